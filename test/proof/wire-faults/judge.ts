import { RETRY_AFTER_SECONDS } from './fault-table';
import { type CellResult } from './run-cell';
import { isPaid, type Operation } from './script';

/** What a cell must have come to besides its word. */
export interface Judged {
  readonly operation: Operation;
  /** Word of the table. */
  readonly expected: string;
  /** Begins of the words that a race may end with. */
  readonly raced?: readonly string[];
  /** Whether the reply, where it is a reply, asked to wait. */
  readonly waits?: boolean;
  /** Something in between may have swallowed what was sent. */
  readonly lossy?: boolean;
}

/** The word that came, as the table would write it: a race that ended in one of its ways is as expected. */
export function heartbeatOf({ expected, raced = [] }: Judged, { came }: CellResult): string {
  return raced.some((begin) => came.startsWith(begin)) ? expected : came;
}

/** Laws that hold in every cell, whatever the fault: what of them is broken. */
export function breaches(judged: Judged, result: CellResult): string[] {
  const { came, seen, marks, heads, waitMs } = result;
  const { operation, raced, waits, lossy } = judged;
  const mayMiss = raced !== undefined || lossy === true;
  const waited = (RETRY_AFTER_SECONDS - 1) * 1000;
  const laws: (readonly [boolean, string])[] = [
    // A download follows redirects, also to the same origin.
    [seen.started <= 1 || operation === 'content', 'more than one request was started'],
  ];
  if (waits === true && /^(?:R for now|again|unavailable|rate_limited)/.test(came))
    laws.push([waitMs !== null && waitMs >= waited, 'the next try would come before Retry-After']);
  laws.push([!/else|another/.test(came), 'a damaged result was taken for the real one']);
  if (isPaid(operation)) {
    const unsent = came.startsWith('N ');
    laws.push(
      [!unsent || seen.started === 0, 'not sent, but bytes arrived'],
      [unsent || mayMiss || seen.started === 1, 'no byte arrived, but it is not called unsent'],
      [marks === (unsent ? 0 : 1), 'the marker does not agree with the class'],
      [heads === marks, 'the second witness does not agree with the marker'],
      [seen.accepted <= 1, 'more than one was accepted'],
      [seen.accepted === 0 || /^[CU]/.test(came), 'accepted, but called unsent or refused'],
      [result.seenAgain === 0, 'a second execution sent again'],
    );
  }
  return laws.filter(([holds]) => !holds).map(([, law]) => law);
}
