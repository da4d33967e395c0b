import { inCode } from './details-text';
import { type VideoOutcome, type WatchFacts } from './outcome';
import { type VideoState } from './video-state';

/** What the advice rests on. `outcome` is that of a workflow that has ended, `account` names credential and service. */
export interface VideoSituation {
  readonly phase: VideoState['phase'];
  readonly outcome: VideoOutcome['outcome'] | null;
  readonly taskId: string | null;
  readonly account: string | null;
  readonly lastError: WatchFacts['lastError'] | null;
}

/**
 * What is safe to do now, in one or two sentences for a person (architecture: Poll, 4.6). Total; holds no prompt, key or
 * address, and a task id only when it can be pasted into a shell as it is.
 */
export function safeNow(situation: VideoSituation): string {
  switch (situation.phase) {
    case 'creating':
      return 'Wait. Do not start this video under another id: the create may have been sent.';
    case 'waiting_to_create':
      return 'Wait, or cancel: no send of this run was accepted, and it goes on by itself. Do not start this video under another id.';
    case 'unconfirmed':
      return 'Look into the task records of the service with the evidence, then decide: adopt its task, declare it lost, or resubmit it, which may cost twice. Do not start this video under another id.';
    case 'watching':
      return whileWatching(situation);
    case 'downloading':
      return `Wait: the video is finished, and the service keeps it for a while. If this is stopped, ${resume(situation)} fetches it; nothing is created again.`;
    case 'done':
      return afterwards(situation);
  }
}

function whileWatching(situation: VideoSituation): string {
  const goesOn = 'The task goes on; nothing is created again.';
  const account = inCode(situation.account ?? 'default');
  switch (situation.lastError?.class) {
    case 'credentials': {
      const status = situation.lastError.httpStatus;
      const answer = status === undefined ? '' : ` (HTTP ${status})`;
      return `Fix the key of the credential ${inCode(credential(situation.account))}, or its rights, on the workers of account ${account}: the service refuses it${answer}, and one poll a minute tries it again. ${goesOn}`;
    }
    case 'account_not_configured':
      return `Start a worker that has the account ${account}, this very credential and base address: the one that polls has not. ${goesOn}`;
    case 'worker_unavailable':
      return `See whether workers run on the poll queue: the last poll came back from none. ${goesOn}`;
    case 'not_found':
    case 'bad_request':
      return `Check the task id and the account ${account}: the service does not know the task for now. The wait ends by itself: after a minute if no poll ever found the task, else at its deadline. It is no reason to create the video again.`;
    default:
      return `Wait, or stop waiting at any time: the task goes on. ${resume(situation)} continues; nothing is created again.`;
  }
}

function afterwards(situation: VideoSituation): string {
  switch (situation.outcome) {
    case 'completed':
      return 'Nothing is left to do: the video is verified and stored.';
    case 'still_running':
      return `The task goes on. ${resume(situation)} continues; nothing is created again.`;
    case 'failed':
      return 'Read the error and check the bill: a failed task can still cost. Another attempt needs another id and is a new purchase.';
    case 'content_unavailable':
      return `The video exists and is paid. ${resume(situation)} tries the download again; do not create it again.`;
    case 'task_unknown':
      return 'Check the task id, the account and the path. It is no failed video and no reason to create another one.';
    case 'unconfirmed':
      return 'Look into the task records of the service with the evidence. Until its fate is known do not start this video under another id: it may have been accepted.';
    case 'rejected':
      return 'No task exists. Correct what the result names, then start it again.';
    case 'cancelled':
      return situation.taskId === null
        ? 'No task of this run is known. Starting it again under the same id buys nothing twice.'
        : `The service has no cancel: the task goes on. ${resume(situation)} fetches it; nothing is created again.`;
    case null:
      return 'Read the result: the workflow has ended.';
  }
}

/** An id that a shell would read as more than a word is not pasted: the state names it anyway. */
function resume({ taskId }: VideoSituation): string {
  const id = taskId !== null && /^\w[\w.:-]{0,127}$/.test(taskId) ? taskId : 'TASK';
  return inCode(`temporal-media resume ${id}`);
}

const credential = (account: string | null): string =>
  String(account ?? 'default').split('@', 1)[0] as string;
