import { z } from 'zod';
import { type JsonValue } from '../../domain/json';
import { POLL_ERROR_CLASSES } from '../../domain/poll-answers';

/** Parts that several outcomes hold. A type test keeps them equal to the types of the domain. */

/** ISO 8601. */
export const time = z.string().describe('ISO 8601 time');

/** Kept as it came from the service. */
export const json: z.ZodType<JsonValue> = z.json();

export const artifactRef = z
  .object({
    uri: z.string(),
    mediaType: z.string().describe('media type found in the bytes'),
    bytes: z.number(),
    sha256: z.string().describe('lowercase hexadecimal SHA-256 of the bytes'),
  })
  .describe('stored bytes, named by their content');

export const pollingProfile = z.object({
  minSeconds: z.number(),
  maxSeconds: z.number(),
  firstPollSeconds: z.number(),
});

export const videoTask = z
  .object({
    taskId: z.string(),
    model: z.string().nullable(),
    durationSeconds: z.number().nullable(),
    resolution: z.string().nullable(),
    referenceMode: z.string().nullable().describe('`none`, or kinds with counts such as `image:2+audio:1`'),
    account: z.string(),
    polling: pollingProfile,
    createdAt: time.nullable(),
    source: z.enum(['create_reply', 'journal', 'unknown']),
  })
  .describe('facts that are kept of a task; null is unknown');

export const billing = z
  .object({
    estimate: z.number().nullable().describe('integer micro-units; null is unknown, never free'),
    currency: z.string().nullable(),
    usage: z.exactOptional(json).describe("the service's own words; absent never means a cost of 0"),
    state: z.enum(['settled', 'reserved', 'needs_review', 'none']),
  })
  .describe('what is known about the cost');

export const taskError = z.object({
  kind: z.enum(['moderation', 'capacity', 'invalid', 'quota', 'unknown']),
  code: z.string().nullable(),
  message: z.string().nullable(),
});

export const requestedFacts = z.object({
  model: z.string().nullable(),
  durationSeconds: z.number().nullable(),
  resolution: z.string().nullable(),
  referenceMode: z.string().nullable(),
});

export const reportedFacts = z
  .object({
    model: z.exactOptional(z.string()),
    resolution: z.exactOptional(z.string()),
    durationSeconds: z.exactOptional(z.number()),
    fps: z.exactOptional(z.number()),
  })
  .describe('what the service says it made');

export const watchFacts = z.object({
  lastStatus: z.string().nullable().describe("the service's last status word"),
  progress: z.exactOptional(z.number()).describe('percent; only when the service sent a number'),
  lastChangeAt: time.nullable(),
  lastPollAt: time.nullable(),
  polls: z.number(),
  lastError: z.exactOptional(
    z.object({
      class: z.enum(POLL_ERROR_CLASSES),
      httpStatus: z.exactOptional(z.number()),
      reason: z.exactOptional(taskError).describe('what the service said, cleaned and short'),
    }),
  ),
  expiresAt: z.exactOptional(time).describe('until when the service keeps the result, where it says so'),
});

export const createEvidence = z
  .object({
    cause: z.string(),
    intentAt: time.nullable(),
    sendWindowEnd: time.nullable(),
    bodyHash: z.string().nullable(),
    httpStatus: z.number().nullable(),
    headers: z.record(z.string(), z.string()),
    kind: taskError.shape.kind.nullable(),
    code: z.string().nullable(),
    replyHash: z.string().nullable(),
    model: z.string().nullable(),
    durationSeconds: z.number().nullable(),
    resolution: z.string().nullable(),
    referenceMode: z.string().nullable(),
    account: z.string().nullable(),
  })
  .describe('what a person needs to settle a call of unknown fate');
