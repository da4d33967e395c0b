import { type FindVideoTaskInput, type FoundVideoTask } from '../domain/activities';
import { type CreateJournal } from '../domain/create-journal';
import { videoTaskById } from '../domain/video-task';
import { type AccountRegistry } from './accounts';
import { journalUnavailable } from './failures';

/** What this worker's journal knows of a task id; by the id alone when it knows nothing (design 4.5). */
export function createFindVideoTask(deps: {
  readonly accounts: AccountRegistry;
  readonly journal: CreateJournal | 'none';
}): (input: FindVideoTaskInput) => Promise<FoundVideoTask> {
  return async ({ taskId, account }) => {
    const wanted = deps.accounts.find(account)?.name;
    const entries =
      deps.journal === 'none'
        ? []
        : await deps.journal.findTask(taskId).catch(() => {
            throw journalUnavailable();
          });
    const entry =
      account === undefined
        ? (entries.find((candidate) => candidate.video.account === wanted) ?? entries[0])
        : entries.find((candidate) => candidate.video.account === (wanted ?? account));
    if (entry === undefined) {
      return {
        video: videoTaskById(taskId, wanted ?? account ?? 'default'),
        creationKey: null,
        workflowId: null,
        runId: null,
      };
    }
    return {
      video: { ...entry.video, source: 'journal' },
      creationKey: entry.creationKey,
      workflowId: entry.workflowId,
      runId: entry.runId,
    };
  };
}
