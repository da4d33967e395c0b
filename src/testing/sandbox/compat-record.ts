import { type CompatLinks, dialectOf } from './dialect';
import { type JsonObject } from './json-value';
import { nominalSize } from './nominal-size';
import { statusAt, type SandboxTask } from './sandbox-task';
import { mergeRecord, progressOf, usageOf, videoSpecOf } from './task-record';

/** What the record of a task depends on beside the task. */
export interface CompatRecordContext {
  /** `minimal`: the keys of the published videos API and no others. */
  records: 'minimal' | 'full';
  linkTtlMs: number;
  links: () => CompatLinks;
}

/**
 * The record of a task in `compat` mode: every key of the published videos API is there, null where it has no value;
 * then what services of this family add: a result URL, usage, `task_id`.
 */
export function compatRecord(task: SandboxTask, now: number, context: CompatRecordContext): JsonObject {
  const dialect = dialectOf(task.model);
  const status = statusAt(task, now);
  const spec = videoSpecOf(task, true);
  const done = status === 'completed' || status === 'failed';
  const endedAt = Math.floor((task.createdAt + task.queuedMs + task.runningMs) / 1000);
  const record: JsonObject = {
    id: task.id,
    object: 'video',
    created_at: Math.floor(task.createdAt / 1000),
    completed_at: status === 'completed' ? endedAt : null,
    error: null,
    expires_at: status === 'completed' ? endedAt + Math.floor(context.linkTtlMs / 1000) : null,
    model: task.model,
    progress: progressOf(task, now).progress ?? null,
    prompt: task.prompt,
    remixed_from_video_id: null,
    seconds: String(spec.seconds),
    size: nominalSize(spec),
    status: dialect.statusWords[status],
  };
  if (status === 'failed') Object.assign(record, task.failure);
  if (context.records === 'full') {
    if (dialect.errors === 'flat') record.task_id = task.id;
    if (status === 'completed') Object.assign(record, dialect.result(context.links()));
    record.usage = done ? (usageOf(task).usage ?? null) : null;
  }
  return mergeRecord(record, task.record ?? {});
}
