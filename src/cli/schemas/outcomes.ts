import { z } from 'zod';
import { type JsonValue } from '../../domain/json';
import { POLL_ERROR_CLASSES } from '../../domain/poll-answers';

/** Parts that several outcomes share. A type test keeps them equal to the types of the domain. */

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

const pollingProfile = z.object({
  minSeconds: z.number(),
  maxSeconds: z.number(),
  firstPollSeconds: z.number(),
});

const videoTask = z
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
  lastStatus: z.string().nullable().describe("the service's last status value"),
  progress: z.exactOptional(z.number()).describe('percent; only when the service sent a number'),
  lastChangeAt: time.nullable(),
  lastPollAt: time.nullable(),
  polls: z.number(),
  lastError: z.exactOptional(
    z.object({
      class: z.enum(POLL_ERROR_CLASSES),
      httpStatus: z.exactOptional(z.number()),
      reason: z.exactOptional(taskError).describe('what the service said, redacted and shortened'),
    }),
  ),
  expiresAt: z.exactOptional(time).describe('until when the service keeps the result, where it says so'),
});

const createEvidence = z
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

/** Ends that videos and images share. */

export const unconfirmed = z
  .object({
    outcome: z.literal('unconfirmed'),
    creationKey: z.string(),
    sendAttempt: z.number(),
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

const created = z.number().nullable().describe('Unix time in seconds, as the service said');

/** Every way an image call ends. */
export const imageOutcome = z.discriminatedUnion('outcome', [
  z
    .object({
      outcome: z.literal('completed'),
      images: z.array(artifactRef),
      created,
      warnings: z.array(z.string()),
      billing,
    })
    .describe('every result is stored, in order'),
  z
    .object({
      outcome: z.literal('results_lost'),
      creationKey: z.string(),
      images: z.array(artifactRef.nullable()),
      created,
      reason: z.string(),
      message: z.string(),
      fetchable: z
        .boolean()
        .describe('the same id, started again, fetches what is missing; nothing is sent for that'),
      billing,
    })
    .describe('paid for, but results could not be kept; null for each that is lost'),
  unconfirmed,
  rejected,
  cancelled,
]);

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
      reason: z.enum(['not_ready', 'expired', 'not_video', 'incomplete_file', 'auth', 'blocked', 'storage']),
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
