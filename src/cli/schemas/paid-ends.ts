import { z } from 'zod';
import { billing, createEvidence, taskError, time, videoTask } from './outcome-parts';

/** Ends that videos and images share. */

export const unconfirmed = z
  .object({
    outcome: z.literal('unconfirmed'),
    creationKey: z.string(),
    epoch: z.number(),
    evidence: createEvidence,
    message: z.string(),
    billing,
  })
  .describe('sent once, fate unknown, and not sent again');

export const rejected = z
  .object({
    outcome: z.literal('rejected'),
    creationKey: z.string().nullable(),
    reason: z.enum([
      'invalid_request',
      'moderation',
      'quota',
      'capacity',
      'service_error',
      'credentials',
      'account_not_configured',
      'creation_key_conflict',
      'creation_key_required',
      'not_sent',
      'retry_later',
      'unsafe_retry_policy',
      'unconfirmed_open',
      'declared_lost',
      'price_changed',
    ]),
    message: z.string(),
    field: z.exactOptional(z.string()),
    allowed: z.exactOptional(z.array(z.string())),
    httpStatus: z.exactOptional(z.number()),
    error: z.exactOptional(taskError),
    notBefore: z.exactOptional(time),
    sends: z.number(),
    billing,
  })
  .describe('refused before the send, or by the service: no task exists');

export const cancelled = z
  .object({
    outcome: z.literal('cancelled'),
    video: videoTask.nullable(),
    creationKey: z.string().nullable(),
    billing,
  })
  .describe('cancelled by the caller; a task that exists goes on at the service');
