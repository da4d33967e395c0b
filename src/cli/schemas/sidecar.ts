import { z } from 'zod';
import { artifactRef, billing, json, reportedFacts, time, videoTask } from './outcome-parts';

/** The JSON file beside a video: what the worker knows of it. */
export const videoSidecar = z.object({
  v: z.literal(1),
  task: videoTask,
  artifact: artifactRef,
  media: z
    .object({
      durationSeconds: z.number(),
      width: z.number(),
      height: z.number(),
      fps: z.exactOptional(z.number()),
      codec: z.string().describe('RFC 6381 name'),
    })
    .nullable()
    .describe('what the file itself holds; null for a container that is only known by its first bytes'),
  reported: reportedFacts,
  usage: json.describe("the service's own words; null when it said none, which is not a cost of 0"),
  warnings: z.array(z.string()),
  timings: z.object({ scheduledAt: time, startedAt: time, finishedAt: time, tries: z.number() }),
  prompt: z.exactOptional(z.string()).describe('only where the caller asked for it'),
});

/** The JSON file beside the images of one call. */
export const imageSidecar = z.object({
  v: z.literal(1),
  workflowId: z.string(),
  images: z.array(
    artifactRef.extend({ file: z.string().describe('name of the file in the same directory') }),
  ),
  created: z.exactOptional(z.number().nullable()).describe('Unix time in seconds, as the service said'),
  warnings: z.exactOptional(z.array(z.string())),
  billing,
});
