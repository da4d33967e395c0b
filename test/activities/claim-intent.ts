import { type Resolution, type ClaimIntent } from '../../src/domain/journal';

/** An intent as a sender of `media.createVideo` writes it before its send. */
export function claimIntent(own: Partial<ClaimIntent> = {}): ClaimIntent {
  return {
    v: 1,
    kind: 'intent',
    nonce: 'ours',
    operation: 'create_video',
    namespace: 'default',
    creationKey: 'order-1',
    workflowId: 'wf',
    runId: 'run',
    activityId: '1',
    fingerprint: 'f'.repeat(64),
    bodyHash: 'b'.repeat(64),
    idempotencyKey: 'k'.repeat(64),
    account: 'default@00000000',
    model: 'm',
    durationSeconds: 2,
    resolution: null,
    referenceMode: 'none',
    estimate: null,
    at: new Date(0).toISOString(),
    sendWindowEnd: new Date(0).toISOString(),
    ...own,
  };
}

/** A person lets a call of unknown fate be sent once more. */
export const RESUBMITTED: Resolution = {
  v: 1,
  decision: 'resubmit',
  by: 'ada',
  reason: 'r',
  at: '',
  answer: null,
};
