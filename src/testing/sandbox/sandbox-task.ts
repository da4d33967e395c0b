import { randomBytes, randomUUID } from 'node:crypto';
import { type JsonObject } from './json-value';
import { behaviourOf, type ModelBehaviour } from './model-behaviour';

export type SandboxStatus = 'queued' | 'in_progress' | 'completed' | 'failed';

/** A video task as the sandbox keeps it. Its status follows from the clock. */
export interface SandboxTask {
  id: string;
  /** Number of the task since the data directory was made, from 0. */
  turn: number;
  model: string;
  prompt: string;
  /** The create request as it came, without prompt and long strings. */
  request: JsonObject;
  /** Unix time in milliseconds. */
  createdAt: number;
  queuedMs: number;
  runningMs: number;
  /** Present when the task fails at the end of its run: the fields of its failed record. */
  failure?: JsonObject;
  /** Overrides what the clock says. */
  status?: SandboxStatus;
  /** Progress of a failed record. */
  failedProgress?: number;
  /** Merged into every record; null removes a field. */
  record?: JsonObject;
}

/** What `patchTask` may change. */
export type SandboxTaskPatch = Partial<
  Pick<
    SandboxTask,
    'status' | 'failure' | 'failedProgress' | 'record' | 'queuedMs' | 'runningMs' | 'createdAt'
  >
>;

/** Status of a task at a time (contract 3). */
export function statusAt(task: SandboxTask, now: number): SandboxStatus {
  if (task.status !== undefined) return task.status;
  const age = now - task.createdAt;
  if (age < task.queuedMs) return 'queued';
  if (age < task.queuedMs + task.runningMs) return 'in_progress';
  return task.failure === undefined ? 'completed' : 'failed';
}

/** Share of the running time that has passed, as an integer from 0 to 99. */
export function shareAt(task: SandboxTask, now: number): number {
  const run = now - task.createdAt - task.queuedMs;
  return Math.max(0, Math.min(99, Math.floor((run / Math.max(1, task.runningMs)) * 100)));
}

/** A new opaque id of at most 32 characters; a colon in some of them shows who does not encode ids in paths. */
export function newTaskId(model: string): string {
  const styles: Record<ModelBehaviour['idStyle'], () => string> = {
    plain: () => `video_${randomBytes(12).toString('hex')}`,
    colon: () => `task:${randomBytes(10).toString('hex')}`,
    uuid: () => randomUUID().replaceAll('-', ''),
  };
  return styles[behaviourOf(model).idStyle]();
}
