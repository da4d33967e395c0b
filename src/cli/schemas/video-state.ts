import { z } from 'zod';
import { createEvidence, time, videoTask, watchFacts } from './outcome-parts';

/** Answer of the query `video_state`. */
export const videoState = z.object({
  phase: z.enum(['creating', 'waiting_to_create', 'unconfirmed', 'watching', 'downloading', 'done']),
  creationKey: z.string().nullable(),
  taskId: z.string().nullable(),
  video: videoTask.nullable(),
  deadlineAt: time.nullable().describe('null before the task exists'),
  nextPollAt: time.nullable(),
  nextCreateAt: time.nullable(),
  waitingFor: z.string().nullable(),
  sends: z.number(),
  evidence: z.exactOptional(createEvidence).describe('only in the phase `unconfirmed`'),
  watch: watchFacts.nullable(),
  lastChangeAt: time.nullable(),
  lastPollAt: time.nullable(),
  polls: z.number(),
  lastHttpStatus: z.number().nullable(),
  consecutiveErrors: z.number(),
  safe: z.string().describe('what is safe to do now, for a person'),
  outcome: z.string().nullable(),
});
