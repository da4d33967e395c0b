import { z } from 'zod';
import { videoState } from './outcomes';

/** `data` of a command that no longer waits: no outcome yet, and perhaps no task. */
export const leftRunning = z.object({
  workflowId: z.string(),
  runId: z.string(),
  isNew: z.boolean().describe('false when it was attached to'),
  url: z.exactOptional(z.string()),
  state: videoState
    .nullable()
    .describe('the last state that was read; null when none was, and for image calls'),
});
