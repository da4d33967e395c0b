import { baseTaskQueue } from './names';
import { type CreateEvidence } from './paid-call';

/** Evidence of which only some facts are known: everything else says so with null. */
export function evidence(cause: string, known: Partial<Omit<CreateEvidence, 'cause'>> = {}): CreateEvidence {
  return {
    cause,
    intentAt: null,
    sendWindowEnd: null,
    bodyHash: null,
    httpStatus: null,
    headers: {},
    kind: null,
    code: null,
    replyHash: null,
    model: null,
    durationSeconds: null,
    resolution: null,
    referenceMode: null,
    account: null,
    ...known,
  };
}

/** A call that no worker took before its start limit: the server refuses to start it any more (failure model: row 2). */
export function noWorker(taskQueue: string): string {
  const media = baseTaskQueue(taskQueue);
  return `No worker took the call from the task queue "${taskQueue}" before its start limit: nothing was sent. Start a media worker of "${media}" (MEDIA_TASK_QUEUE), or name the task queue of one that runs.`;
}
