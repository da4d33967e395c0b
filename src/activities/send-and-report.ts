import { type RecordedAnswer } from '../domain/journal';
import { type Caller, NOT_VALIDATED, type PaidDeps } from './paid-context';
import { type PaidSpec, sendOnce, type SendOnceResult } from './send-once';

/** {@link sendOnce}, and reports what it did to those who run the worker. */
export async function sendAndReport<
  Body extends { readonly bodyHash: string },
  Answer extends RecordedAnswer,
>(deps: PaidDeps, who: Caller, spec: PaidSpec<Body, Answer>): Promise<SendOnceResult<Answer>> {
  const { events, accounts } = deps;
  if (events === undefined) return sendOnce(deps, who, spec);
  let isKnownModel = false;
  const result = await sendOnce(deps, who, {
    ...spec,
    prepare: async (account) => {
      const prepared = await spec.prepare(account);
      isKnownModel = prepared.kind === 'ready' && !prepared.warnings.includes(NOT_VALIDATED);
      return prepared;
    },
  });
  // A reader of records is no call.
  if (result.kind === 'pending' || (spec.recordedOnly === true && !result.answer.sent)) return result;
  events.called({
    operation: spec.paid.operation,
    creationKey: spec.creationKey,
    account: accounts.find(spec.account)?.name,
    model: spec.paid.request.model,
    isKnownModel,
    answer: result.answer,
    isRecorded: result.isRecorded === true,
    isRepeated: spec.sameKey === true,
  });
  return result;
}
