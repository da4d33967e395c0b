import { type NotSent } from '../../domain/paid-call';
import { openEpoch } from '../epochs';
import { type AnswerBase, waitingAnswer } from '../paid-answers';
import { type Caller, type PaidDeps } from '../paid-context';
import { isLost, type Sender } from '../sender';

const UNREADABLE = 'The page of the campaign that holds this request cannot be read. Nothing was sent.';

/** Whose turn it is, as far as it is known without the page. */
export interface WithoutPage {
  readonly creationKey: string;
  readonly sender: Sender;
  readonly sameKey?: true | undefined;
  readonly recordedSince?: string | undefined;
}

/**
 * The request of a row cannot be read, so nothing is sent now. Undefined when something may have been sent under its
 * key before, in this journal or in one that is not here: that is never called unsent (C4.4c).
 */
export async function withoutPage(
  { journal }: Pick<PaidDeps, 'journal'>,
  { namespace, workflowId, runId, attempt }: Caller,
  row: WithoutPage,
  base: AnswerBase,
): Promise<NotSent | undefined> {
  const { creationKey, sender, sameKey, recordedSince } = row;
  const { standing, before } = sender;
  const isFirst = attempt === 1 && before === null && sameKey !== true && recordedSince === undefined;
  const asker = { fingerprint: null, workflowId, runId, now: Date.now() };
  const opened = standing.bound
    ? await openEpoch(journal, { namespace, creationKey }, base.epoch, asker).catch(() => undefined)
    : undefined;
  const untouched =
    !standing.bound || opened === undefined
      ? isFirst
      : opened.do === 'send' && !isLost(row, standing, opened.intents);
  return untouched ? waitingAnswer(base, 'page_unavailable', UNREADABLE) : undefined;
}
