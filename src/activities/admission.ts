import { setTimeout } from 'node:timers/promises';
import { cancellationSignal } from '@temporalio/activity';
import { otherwise } from '../domain/bug';
import { type Account, credentialOf } from '../accounts/registry';
import { type ClaimIntent, type RecordedAnswer, wasCharged } from '../domain/journal';
import { type NotSent, type RejectedCall } from '../domain/paid-call';
import { formatMoney } from '../domain/price';
import { type PaidRequest } from '../domain/request';
import { journalDown } from './journal-failures';
import { type AnswerBase, heldAnswer, rejectedAnswer, waitingAnswer } from './paid-answers';
import { type PaidDeps } from './paid-context';
import { type GatedCall } from './refusal-gate';
import { type Reserved, spendBooksOf } from './spend-book';
import { msUntil, timeAfter } from './wall-clock';

/** What an account allows to be sent. Its result must be reported in every case. */
export interface Admission {
  /** Adds to a refusal in effect when it is tried again. */
  answered<Answer extends RecordedAnswer>(answer: Answer): Answer;
  /** Reports that nothing is sent and no intent was written. */
  unused(): Promise<void>;
  /** Gives the estimate back where both the answer and what is recorded instead prove that nothing was charged. */
  settle(claim: ClaimIntent, ...answers: readonly RecordedAnswer[]): Promise<void>;
}

/** Waits for the turn of a call by the rate of its account; an answer where that is not soon. */
export async function turnOf({ rate }: Account, base: AnswerBase): Promise<NotSent | undefined> {
  if (rate === undefined) return undefined;
  const turn = rate.take();
  if ('inMs' in turn) {
    // A worker that stops meanwhile sends nothing, as before every send.
    if (turn.inMs > 0)
      await setTimeout(turn.inMs, undefined, { signal: cancellationSignal() }).catch(otherwise(undefined));
    return undefined;
  }
  const heldUntil = timeAfter(turn.heldForMs);
  const message = `The rate of the account ${base.account ?? ''} (createsPerSecond) allows no more for now, and nothing was sent. It is tried again at ${heldUntil}.`;
  return { ...waitingAnswer(base, 'account_rate', message), heldUntil };
}

/** Lets a call pass that no standing refusal and no spend limit of its account holds back; else its answer. */
export async function admit(
  { gate, journal, events }: Pick<PaidDeps, 'gate' | 'journal' | 'events'>,
  account: Account,
  { operation, request }: PaidRequest,
  call: string,
  base: AnswerBase,
): Promise<Admission | NotSent | RejectedCall> {
  // A client returns the same redactor as long as no key has changed; that of another account costs one more probe.
  const key = await account.client.redactor();
  const gated: GatedCall = { call, account: account.name, operation, model: request.model, key };
  const pass = await gate.enter(gated);
  if ('probeInMs' in pass) return heldAnswer(base, pass, request.model);
  const reserved = await reserve({ journal, events }, account, base).catch((error: unknown) =>
    journalDown(base, error),
  );
  if (reserved !== undefined && 'outcome' in reserved) {
    pass.unused();
    return reserved;
  }
  return {
    answered: (answer) => pass.answered(answer),
    unused: async () => {
      pass.unused();
      await reserved?.giveBack();
    },
    settle: async (claim, ...answers) => {
      const charged = answers.some((answer) =>
        wasCharged({ claim, outcome: { v: 1, nonce: claim.nonce, at: claim.at, answer } }),
      );
      if (!charged) await reserved?.giveBack();
    },
  };
}

/** Reserves the estimate of a call. Nothing is sent where it is unknown. @throws when the journal fails */
async function reserve(
  { journal, events }: Pick<PaidDeps, 'journal' | 'events'>,
  { name, spendLimit }: Account,
  base: AnswerBase,
): Promise<Reserved | NotSent | RejectedCall | undefined> {
  if (spendLimit === undefined) return undefined;
  const { estimate } = base;
  const limit = `${formatMoney(spendLimit)} per ${spendLimit.per}`;
  const mend =
    'Nothing was sent. Correct spendLimit of the account, or the prices of the model configuration.';
  if (journal === 'none')
    return rejectedAnswer(base, 'spend_limit', `Without a journal no spend limit can be kept. ${mend}`);
  if (estimate === null || estimate.currency !== spendLimit.currency) {
    const unknown = `The account ${name} may spend ${limit}, and the price of this call is not known in ${spendLimit.currency}.`;
    return rejectedAnswer(base, 'spend_limit', `${unknown} ${mend}`);
  }
  if (estimate.microUnits > spendLimit.microUnits) {
    const above = `This call is estimated at ${formatMoney(estimate)}, and the account ${name} may spend ${limit} in all.`;
    return rejectedAnswer(base, 'spend_limit', `${above} ${mend}`);
  }
  // Of the credential alone: the limit does not begin anew because its base address was corrected.
  const asked = await spendBooksOf(journal).reserve(credentialOf(name), spendLimit, estimate.microUnits);
  const window = { account: name, currency: spendLimit.currency, per: spendLimit.per };
  events?.metrics.record('spend', 'sum' in asked ? asked.sum : asked.spent, window);
  events?.metrics.record('spendLimit', spendLimit.microUnits, window);
  if ('giveBack' in asked) return asked;
  const { spent, endsAt } = asked;
  const spentText = formatMoney({ microUnits: spent, currency: spendLimit.currency });
  const ends = new Date(endsAt).toISOString();
  // A person may raise the limit before the window ends, and what was refused is given back.
  const heldUntil = timeAfter(Math.min(msUntil(ends), LONGEST_HOLD_MS));
  const message = `The account ${name} may spend ${limit}, of which ${spentText} is spent or reserved. Nothing was sent. The next ${spendLimit.per} begins at ${ends}; it is tried again at ${heldUntil}.`;
  return { ...waitingAnswer(base, 'spend_limit', message), reason: 'spend_limit', heldUntil };
}

/** Longest time between two tries of a call that the spend limit holds back, in milliseconds. */
const LONGEST_HOLD_MS = 60 * 60_000;
