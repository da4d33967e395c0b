import {
  type ArtifactStoreFacts,
  FIND_VIDEO_TASK_SHAPE,
  type FindVideoTaskInput,
  type FoundVideoTask,
} from '../domain/activities';
import { ACTIVITY } from '../domain/names';
import {
  decisionIssue,
  RESOLVE_UNCONFIRMED_SHAPE,
  type ResolveUnconfirmedInput,
  type ResolveUnconfirmedResult,
  REVIEW_JOURNAL_SHAPE,
  type ReviewJournalInput,
  type ReviewJournalPage,
} from '../domain/unconfirmed-decision';
import { inputIssue, requireInput } from './handlers';
import { activity } from './proxies';

/**
 * Returns the artifact store of this queue's workers. A client checks it before starting a call whose result it could
 * not save.
 */
export async function artifactStore(): Promise<ArtifactStoreFacts> {
  return activity(ACTIVITY.artifactStore, { summary: 'name the artifact store' })();
}

/**
 * Applies a person's decision about an unconfirmed call after the workflow that sent it has ended (failure model: The
 * log). The journal stores the decision, which the next start with the same ID uses. Sends nothing.
 */
export async function resolveUnconfirmed(input: ResolveUnconfirmedInput): Promise<ResolveUnconfirmedResult> {
  const creationKey = typeof input?.creationKey === 'string' ? input.creationKey : '';
  const issue = inputIssue(input, RESOLVE_UNCONFIRMED_SHAPE)?.message ?? decisionIssue(input);
  if (issue !== undefined)
    return { resolved: false, reason: 'invalid_decision', creationKey, answer: null, message: issue };
  const { taskQueue, ...call } = input;
  return activity(ACTIVITY.resolveUnconfirmed, { taskQueue, summary: call.decision })(call);
}

/** Returns one page of a worker's journal, for clients, which have no journal. */
export async function reviewJournal(input: ReviewJournalInput): Promise<ReviewJournalPage> {
  requireInput(input, REVIEW_JOURNAL_SHAPE);
  const { taskQueue, ...call } = input;
  return activity(ACTIVITY.reviewJournal, { taskQueue, summary: `list ${input.list}` })(call);
}

/**
 * Looks up a task ID in a worker's journal: its account, its recorded facts and the workflow that owns it. Clients have
 * neither a journal nor a base URL, so they run this workflow before they resume a task.
 */
export async function findVideoTask(input: FindVideoTaskInput): Promise<FoundVideoTask> {
  requireInput(input, FIND_VIDEO_TASK_SHAPE);
  return activity(ACTIVITY.findVideoTask, { summary: 'look the task up' })(input);
}
