import { compatRecord } from './compat-record';
import { dialectOf } from './dialect';
import { type JsonObject } from './json-value';
import { type SandboxCore } from './sandbox-core';
import { statusAt, type SandboxTask } from './sandbox-task';
import { linksOf } from './task-links';
import { taskRecord, videoSpecOf } from './task-record';

/** The record of a task at a time (Unix milliseconds), as the mode of the sandbox writes it. */
export async function writeRecord(core: SandboxCore, task: SandboxTask, now: number): Promise<JsonObject> {
  const { mode, records, linkTtlMs, videos } = core.options;
  if (mode === 'strict') return taskRecord(task, now, records, () => linksOf(core, task));
  const embeds = dialectOf(task.model).embedsVideo && statusAt(task, now) === 'completed';
  const media = embeds ? await core.media.get(videoSpecOf(task, videos === 'shared')) : undefined;
  const dataUrl = media === undefined ? '' : `data:video/mp4;base64,${media.bytes.toString('base64')}`;
  return compatRecord(task, now, { records, linkTtlMs, links: () => ({ ...linksOf(core, task), dataUrl }) });
}
