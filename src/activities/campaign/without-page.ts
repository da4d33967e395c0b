import { type CreateJournal } from '../../domain/create-journal';
import { type NotSent } from '../../domain/paid-call';
import { openEpoch } from '../epochs';
import { type AnswerBase, waitingAnswer } from '../paid-answers';
import { type Caller } from '../paid-context';

const UNREADABLE = 'The page of the campaign that holds this request cannot be read. Nothing was sent.';

/**
 * The request of a row cannot be read, so nothing is sent now. Undefined when something may have been sent under its
 * key before: that is never called unsent (C4.4c).
 */
export async function withoutPage(
  journal: CreateJournal | 'none',
  { namespace, workflowId, runId, attempt }: Caller,
  creationKey: string,
  base: AnswerBase,
): Promise<NotSent | undefined> {
  const asker = { fingerprint: null, workflowId, runId, now: Date.now() };
  const key = { namespace, creationKey };
  const opened = await openEpoch(journal, key, base.epoch, asker).catch(() => undefined);
  const untouched = opened === undefined ? attempt === 1 : opened.do === 'send';
  return untouched ? waitingAnswer(base, 'page_unavailable', UNREADABLE) : undefined;
}
