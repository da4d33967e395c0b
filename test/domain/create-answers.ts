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

/** Answers of `media.createVideo`, one builder per outcome. `epoch` is the epoch that the answer is about. */
export const answers = {
  created: (epoch: number): CreatedVideo => ({
    ...base,
    outcome: 'created',
    epoch,
    sent: true,
    video: makeVideoTask(),
    status: 'queued',
    warnings: [],
  }),
  refused: (epoch: number, notBefore: string | null = null, sent = true): RefusedForNow => ({
    ...base,
    outcome: 'refused_for_now',
    epoch,
    sent,
    httpStatus: 429,
    error: { kind: 'capacity', code: null, message: null },
    notBefore,
  }),
  rejected: (epoch: number, reason: RejectedCall['reason'] = 'moderation'): RejectedCall => ({
    ...base,
    outcome: 'rejected',
    epoch,
    sent: true,
    reason,
    message: 'no',
  }),
  unconfirmed: (epoch: number): UnconfirmedCall => ({
    ...base,
    outcome: 'unconfirmed',
    epoch,
    sent: true,
    evidence: evidence('http_502', { httpStatus: 502 }),
  }),
  pending: (epoch: number): PendingCall => ({ ...base, outcome: 'pending', epoch, sent: false }),
  notSent: (epoch: number, changes: Partial<NotSent> = {}): NotSent => ({
    ...base,
    outcome: 'not_sent',
    epoch,
    sent: false,
    cause: 'connection_refused',
    epochUsed: true,
    permanent: false,
    message: 'The service could not be reached.',
    ...changes,
  }),
};
