import { compatRecord } from './compat';
import { dialectOf } from './options';
import { type JsonObject } from './json-value';
import { type SandboxCore } from './sandbox-core';
import { type SandboxTask, statusAt, taskRecord } from './tasks';
import { linksOf } from './task-links';
import { taskVideo } from './task-video';

/** The record of a task at a time (Unix milliseconds), in the form of the sandbox's mode. */
export async function writeRecord(core: SandboxCore, task: SandboxTask, now: number): Promise<JsonObject> {
  const { mode, records, linkTtlMs } = core.options;
  if (mode === 'strict') return taskRecord(task, now, records, () => linksOf(core, task));
  const embeds = dialectOf(task.model).embedsVideo && statusAt(task, now) === 'completed';
  const media = embeds ? await taskVideo(core, task) : undefined;
  const dataUrl = media === undefined ? '' : `data:video/mp4;base64,${media.bytes.toString('base64')}`;
  return compatRecord(task, now, { records, linkTtlMs, links: () => ({ ...linksOf(core, task), dataUrl }) });
}
