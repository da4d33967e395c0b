import { type FindVideoTaskInput, type FoundVideoTask, type ServiceView } from '../domain/activities';
import { type CreateJournal } from '../domain/journal';
import { type PollingMode } from '../domain/polling-profile';
import { videoTaskById } from '../domain/video-task';
import { type AccountRegistry, credentialOf } from '../accounts/registry';
import { leaveToAnotherWorker } from './another-worker';
import { journalUnavailable } from './journal-failures';

/**
 * Finds a task id in this worker's journal; one that is not there is described by its id alone (architecture: Wait).
 */
export function createFindVideoTask(deps: {
  readonly accounts: AccountRegistry;
  readonly journal: CreateJournal | 'none';
  /** How the videos of this worker are polled whose input does not say it. @default 'own' */
  readonly polling?: PollingMode | undefined;
}): (input: FindVideoTaskInput) => Promise<FoundVideoTask> {
  const find = async ({ taskId, account }: FindVideoTaskInput): Promise<FoundVideoTask> => {
    const wanted = deps.accounts.find(account)?.name ?? account;
    const entries =
      deps.journal === 'none'
        ? []
        : await deps.journal.findTask(taskId).catch((error: unknown) => {
            throw journalUnavailable(error);
          });
    const entry =
      account === undefined
        ? (entries.find((candidate) => candidate.video.account === wanted) ?? entries[0])
        : // The account may be one of another worker, named without its digest.
          entries.find(({ video }) => video.account === wanted || credentialOf(video.account) === wanted);
    if (entry === undefined) {
      return {
        video: videoTaskById(taskId, wanted ?? 'default'),
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
  return async (input) => {
    const found = { ...(await find(input)), ...(deps.polling !== undefined && { polling: deps.polling }) };
    if (input.askService !== true) return found;
    return { ...found, service: await serviceView(deps.accounts, found) };
  };
}

/** A single try, because the caller wants the state that can be read now. */
async function serviceView(accounts: AccountRegistry, { video }: FoundVideoTask): Promise<ServiceView> {
  const client = accounts.find(video.account)?.client;
  if (client === undefined) {
    leaveToAnotherWorker();
    return { known: false, error: 'account_not_configured' };
  }
  const result = await client.getVideo(video.taskId);
  if (result.kind === 'error') {
    const { error, httpStatus } = result;
    return { known: false, error, ...(httpStatus !== undefined && { httpStatus }) };
  }
  const { status, phase, progress, error } = result.record;
  return {
    known: true,
    httpStatus: result.httpStatus,
    status,
    phase,
    ...(progress !== undefined && { progress }),
    ...(error !== undefined && { errorKind: error.kind }),
  };
}
