import { type Account } from '../accounts/registry';
import { isBug, otherwise } from '../domain/bug';
import { INTERNAL_ERROR } from '../domain/names';
import { type NotSent } from '../domain/paid-call';
import { keepsNothing } from '../domain/journal';
import { redactorsOf, sanitised } from './failures';
import { reportMistake } from './mistakes';
import { waitingAnswer } from './paid-answers';
import { type Caller, NOT_VALIDATED, type PaidDeps, type Prepared } from './paid-context';
import { isUnsent } from './unseen-send';
import { type PaidSpec, type SendOnceResult } from './paid-spec';
import { sendOnce } from './send-once';

/** {@link sendOnce}, and reports what it did to those who run the worker. */
export async function sendAndReport(deps: PaidDeps, who: Caller, spec: PaidSpec): Promise<SendOnceResult> {
  const { events, accounts } = deps;
  let isKnownModel = false;
  const prepare = async (account: Account): Promise<Prepared> => {
    const prepared = await spec.prepare(account);
    isKnownModel = prepared.kind === 'ready' && !prepared.warnings.includes(NOT_VALIDATED);
    return prepared;
  };
  const result = await sendOnce(deps, who, { ...spec, prepare }).catch((error: unknown) =>
    afterMistake(deps, who, spec, error),
  );
  // A reader of records is no call.
  if (result.kind === 'pending' || (spec.recordedOnly === true && !result.answer.sent)) return result;
  events?.called({
    operation: spec.paid.operation,
    creationKey: spec.creationKey,
    account: accounts.find(spec.account)?.name,
    model: spec.paid.request.model,
    isKnownModel,
    answer: result.answer,
    isRecorded: result.isRecorded === true,
    isRepeated: spec.sameKey !== undefined,
  });
  return result;
}

/**
 * Where nothing was sent under its key the call ends, for it would meet the same mistake again. Where something may have
 * been, here or by an earlier execution, the attempt fails, and the journal tells what became of it.
 */
async function afterMistake(
  deps: PaidDeps,
  who: Caller,
  spec: PaidSpec,
  error: unknown,
): Promise<SendOnceResult> {
  if (!isBug(error) || keepsNothing(deps.journal) || spec.recordedOnly === true) throw error;
  if (!(await isUnsent(deps, who, spec).catch(otherwise(false)))) throw error;
  reportMistake(error);
  const { message } = (await sanitised(error, () => redactorsOf(deps.accounts))) as Error;
  const base = { sendAttempt: 0, sent: false, account: spec.account ?? null, estimate: null };
  const answer: NotSent = {
    ...waitingAnswer(base, INTERNAL_ERROR, `Nothing was sent. ${message}`),
    reason: INTERNAL_ERROR,
    permanent: true,
  };
  return { kind: 'answer', answer, send: null };
}
