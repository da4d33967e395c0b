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

/** A call that no worker took before its start limit: the server refuses to start it any more (failure-model row 2). */
export const NO_WORKER =
  'No worker took the call before its start limit: nothing was sent. Start a worker on its task queue.';
