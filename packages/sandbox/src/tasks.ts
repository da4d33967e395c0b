import { randomBytes, randomUUID } from 'node:crypto';
import { type JsonObject } from './json-value';
import { framesPerSecond, type VideoSpec } from './media-spec';
import { behaviourOf, type ModelBehaviour, videoModels } from './models';

/** Failure kinds that a prompt directive can request. */
export type FailureKind = 'moderation' | 'capacity' | 'invalid' | 'quota' | 'unknown';

/** Fields in a failed record. The contract does not define their shape (2.2), so they vary on purpose. */
const shapes: Record<FailureKind, JsonObject[]> = {
  moderation: [
    { error: { code: 'moderation_blocked', message: 'The request was blocked by our moderation system.' } },
    {
      error: {
        code: 'content_policy_violation',
        message: 'The prompt was rejected.',
        type: 'invalid_request',
      },
    },
    { error: 'InputTextSensitiveContentDetected: the input text may contain sensitive information.' },
    { error: { code: 400, message: 'DataInspectionFailed: input data may contain inappropriate content.' } },
    { error: null, failureCode: 'SAFETY.INPUT.TEXT', fail_reason: 'Generation blocked.' },
  ],
  capacity: [
    { error: { code: 'ServerOverloaded', message: 'The service is overloaded, try again later.' } },
    { error: { code: 503, message: 'ModelLoadingError' } },
    { error: { code: 'EndpointRateLimitExceeded', message: 'Too many tasks.' } },
    { error: null, fail_reason: 'THROTTLED' },
    { error: { code: '', message: 'UNAVAILABLE: no worker is free' } },
  ],
  invalid: [
    { error: { code: 'InvalidParameter', message: 'The reference image could not be decoded.' } },
    { error: { code: 'invalid_request_error', message: 'resolution is not supported with this reference.' } },
    { error: { message: 'invalid parameter: aspect_ratio', code: 400 } },
  ],
  quota: [
    { error: { code: 'QuotaExceeded', message: 'Your quota is used up.' } },
    { error: { code: 'insufficient_balance', message: 'Please top up.' } },
    { error: { code: 402, message: 'billing limit reached' } },
  ],
  unknown: [
    { error: { message: 'An unexpected error occurred.' } },
    { error: 'task failed' },
    { error: {} },
    { error: null },
    {},
  ],
};

/** Returns a failed record's fields for this kind. `turn` selects one of the shapes. */
export function failureFields(kind: FailureKind, turn: number): JsonObject {
  const list = shapes[kind];
  return { ...list[turn % list.length] };
}

/** A task's status, as in its record. */
export type SandboxStatus = 'queued' | 'in_progress' | 'completed' | 'failed';

/** A video task as the sandbox stores it. Its status is computed from the clock. */
export interface SandboxTask {
  /** The task id in the create's reply. */
  id: string;
  /** The task's sequence number in the data directory, from 0. */
  turn: number;
  /** Public model id. */
  model: string;
  /** The prompt as sent. */
  prompt: string;
  /** The create request as received, without the prompt and long strings. */
  request: JsonObject;
  /** The create's idempotency key; absent without one. */
  idempotencyKey?: string;
  /** Unix time in milliseconds. */
  createdAt: number;
  /** How long the task is queued after its creation, in milliseconds. */
  queuedMs: number;
  /** How long it then runs, in milliseconds. */
  runningMs: number;
  /** The fields of the failed record, if the task fails at the end of its run. */
  failure?: JsonObject;
  /** Overrides the status that is computed from the clock. */
  status?: SandboxStatus;
  /** Progress of a failed record. */
  failedProgress?: number;
  /** Merged into every record; null removes a field. */
  record?: JsonObject;
}

/** The fields that `patchTask` can change. */
export type SandboxTaskPatch = Partial<
  Pick<
    SandboxTask,
    'status' | 'failure' | 'failedProgress' | 'record' | 'queuedMs' | 'runningMs' | 'createdAt'
  >
>;

/** Returns a task's status at a given time (contract 3). */
export function statusAt(task: SandboxTask, now: number): SandboxStatus {
  if (task.status !== undefined) return task.status;
  const age = now - task.createdAt;
  if (age < task.queuedMs) return 'queued';
  if (age < task.queuedMs + task.runningMs) return 'in_progress';
  return task.failure === undefined ? 'completed' : 'failed';
}

/** Returns the share of the running time that has passed, as an integer from 0 to 99. */
function shareAt(task: SandboxTask, now: number): number {
  const run = now - task.createdAt - task.queuedMs;
  return Math.max(0, Math.min(99, Math.floor((run / Math.max(1, task.runningMs)) * 100)));
}

/**
 * Returns a new opaque id of at most 32 characters. Some ids contain a colon, to reveal clients that do not encode ids
 * in paths.
 */
export function newTaskId(model: string): string {
  const styles: Record<ModelBehaviour['idStyle'], () => string> = {
    plain: () => `video_${randomBytes(12).toString('hex')}`,
    colon: () => `task:${randomBytes(10).toString('hex')}`,
    uuid: () => randomUUID().replaceAll('-', ''),
  };
  return styles[behaviourOf(model).idStyle]();
}

/** Links of a completed task: a signed one on the media origin, and the API's own content path. */
export interface ResultLinks {
  signed: string;
  content: string;
  contentPath: string;
}

/** Fields for the result URL (contract 2.2 does not name the field). Tasks use them in turn. */
const linkFields: ((links: ResultLinks) => JsonObject)[] = [
  ({ signed }) => ({ url: signed }),
  ({ signed }) => ({ output_url: signed }),
  ({ signed }) => ({ video_url: signed }),
  ({ signed }) => ({ metadata: { url: signed } }),
  ({ signed }) => ({ urls: [signed] }),
  ({ signed }) => ({ video: { url: signed } }),
  ({ signed }) => ({ data: { video_url: signed } }),
  ({ signed }) => ({ result_url: signed, output_path: '/srv/media/out/result.mp4' }),
  ({ signed }) => ({ output: [signed] }),
  ({ signed }) => ({ assets: { video: signed } }),
  ({ content }) => ({ url: content }),
  ({ contentPath }) => ({ video_url: contentPath }),
  ({ signed }) => ({ content: { video_url: signed } }),
  () => ({}),
];

/** Returns a task's record (contract 2.2). `minimal` contains only id, status and progress. */
export function taskRecord(
  task: SandboxTask,
  now: number,
  records: 'minimal' | 'full',
  links: () => ResultLinks,
): JsonObject {
  const status = statusAt(task, now);
  const record: JsonObject = { id: task.id, status, ...progressOf(task, now) };
  if (records === 'full') Object.assign(record, details(task));
  if (status === 'failed') Object.assign(record, task.failure);
  if (status === 'completed' && records === 'full') {
    Object.assign(record, usageOf(task), linkFields[task.turn % linkFields.length]?.(links()));
    record.completed_at = Math.floor((task.createdAt + task.queuedMs + task.runningMs) / 1000);
  }
  return mergeRecord(record, task.record ?? {});
}

/** Merges a patch into a record; null removes a field. */
export function mergeRecord(record: JsonObject, patch: JsonObject): JsonObject {
  const merged = { ...record, ...patch };
  return Object.fromEntries(Object.entries(merged).filter(([name]) => patch[name] !== null));
}

/** Returns the spec of a task's video. A field that was not requested gets the first value that the model allows. */
export function videoSpecOf(task: SandboxTask, shared: boolean): VideoSpec {
  const first = videoModels.find((one) => one.id === task.model);
  const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
  return {
    kind: 'video',
    model: task.model,
    prompt: shared ? 'shared video' : task.prompt,
    seconds: Number(task.request.seconds ?? task.request.duration ?? first?.durations?.[0] ?? 4),
    resolution: text(task.request.resolution) ?? first?.resolutions?.[0] ?? '480p',
    aspectRatio: text(task.request.aspect_ratio) ?? first?.aspectRatios?.[0] ?? '16:9',
  };
}

function details(task: SandboxTask): JsonObject {
  const spec = videoSpecOf(task, true);
  return {
    object: 'video',
    model: task.model,
    created_at: Math.floor(task.createdAt / 1000),
    resolution: spec.resolution,
    seconds: task.turn % 2 === 0 ? spec.seconds : String(spec.seconds),
    fps: framesPerSecond,
  };
}

export function progressOf(task: SandboxTask, now: number): JsonObject {
  const style = behaviourOf(task.model).progress;
  const status = statusAt(task, now);
  if (style === 'absent') return {};
  if (status === 'completed') return { progress: 100 };
  if (status === 'failed' && task.failedProgress !== undefined) return { progress: task.failedProgress };
  return { progress: style === 'growing' && status !== 'queued' ? shareAt(task, now) : 0 };
}

export function usageOf(task: SandboxTask): JsonObject {
  const seconds = videoSpecOf(task, true).seconds;
  switch (behaviourOf(task.model).usage) {
    case 'seconds':
      return { usage: { duration_seconds: seconds } };
    case 'tokens':
      return { usage: { completion_tokens: seconds * 1000, total_tokens: seconds * 1000 } };
    case 'cost':
      return { usage: { cost: 0.25 * seconds } };
    case 'absent':
      return {};
  }
}
