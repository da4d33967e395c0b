import {
  type CreatedVideo,
  evidence,
  type NotSent,
  type PendingCall,
  type RefusedForNow,
  type RejectedCall,
  type UnconfirmedCall,
} from '../../src/domain/paid-call';
import { makeVideoTask } from './make-video-task';

const base = { account: 'default@00000000', estimate: null };

/** Answers of `media.createVideo`, one builder per outcome. `sendAttempt` is the send of its key that the answer is about. */
export const answers = {
  created: (sendAttempt: number): CreatedVideo => ({
    ...base,
    outcome: 'created',
    sendAttempt,
    sent: true,
    video: makeVideoTask(),
    status: 'queued',
    warnings: [],
  }),
  refused: (sendAttempt: number, notBefore: string | null = null, sent = true): RefusedForNow => ({
    ...base,
    outcome: 'refused_for_now',
    sendAttempt,
    sent,
    httpStatus: 429,
    error: { kind: 'capacity', code: null, message: null },
    notBefore,
  }),
  rejected: (sendAttempt: number, reason: RejectedCall['reason'] = 'moderation'): RejectedCall => ({
    ...base,
    outcome: 'rejected',
    sendAttempt,
    sent: true,
    reason,
    message: 'no',
  }),
  unconfirmed: (sendAttempt: number): UnconfirmedCall => ({
    ...base,
    outcome: 'unconfirmed',
    sendAttempt,
    sent: true,
    evidence: evidence('http_502', { httpStatus: 502 }),
  }),
  pending: (sendAttempt: number): PendingCall => ({ ...base, outcome: 'pending', sendAttempt, sent: false }),
  notSent: (sendAttempt: number, changes: Partial<NotSent> = {}): NotSent => ({
    ...base,
    outcome: 'not_sent',
    sendAttempt,
    sent: false,
    cause: 'connection_refused',
    sendAttemptUsed: true,
    permanent: false,
    message: 'The service could not be reached.',
    ...changes,
  }),
};
