import { z } from 'zod';
import {
  artifactRef,
  billing,
  reportedFacts,
  requestedFacts,
  taskError,
  videoTask,
  watchFacts,
} from './outcome-parts';
import { cancelled, rejected, unconfirmed } from './paid-ends';

/** Every way a video workflow ends by itself. */
export const videoOutcome = z.discriminatedUnion('outcome', [
  z
    .object({
      outcome: z.literal('completed'),
      video: videoTask,
      artifact: artifactRef,
      sidecar: artifactRef.nullable(),
      requested: requestedFacts,
      reported: reportedFacts,
      warnings: z.array(z.string()),
      watch: watchFacts,
      billing,
    })
    .describe('downloaded, verified as video by its bytes, stored'),
  z
    .object({ outcome: z.literal('still_running'), video: videoTask, ...watchFacts.shape, billing })
    .describe('the wait ended first: a success, the task goes on'),
  z
    .object({
      outcome: z.literal('failed'),
      video: videoTask,
      error: taskError,
      retryable: z.boolean(),
      watch: watchFacts,
      billing,
    })
    .describe('the service failed the task'),
  z
    .object({
      outcome: z.literal('content_unavailable'),
      video: videoTask,
      reason: z.enum(['not_ready', 'expired', 'not_video', 'truncated', 'auth', 'blocked', 'storage']),
      message: z.string(),
      tries: z.number(),
      rejected: artifactRef.nullable(),
      httpStatus: z.exactOptional(z.number()),
      billing,
    })
    .describe('completed, but the file could not be fetched; the task is kept'),
  z
    .object({
      outcome: z.literal('task_unknown'),
      video: videoTask,
      message: z.string(),
      watch: watchFacts,
      billing,
    })
    .describe('the service repeatedly says that it does not know the id'),
  unconfirmed,
  rejected,
  cancelled,
]);
