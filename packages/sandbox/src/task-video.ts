import { sha256 } from './request-log';
import { type RenderedMedia } from './media-store';
import { type SandboxCore } from './sandbox-core';
import { type SandboxTask, videoSpecOf } from './tasks';

/** The video of a task; the option `videos` decides whether it is shared. */
export async function taskVideo(core: SandboxCore, task: SandboxTask): Promise<RenderedMedia> {
  const media = await core.media.get(specOf(core, task));
  return core.options.videos === 'stamped' ? stamped(media, task.id) : media;
}

/** Starts encoding before the request that needs it. */
export function warmTaskVideo(core: SandboxCore, task: SandboxTask): void {
  core.media.warm(specOf(core, task));
}

function specOf(core: SandboxCore, task: SandboxTask): ReturnType<typeof videoSpecOf> {
  return videoSpecOf(task, core.options.videos !== 'per_task');
}

/** Appends an MP4 box that players skip, so that no two tasks have the same bytes. */
function stamped({ bytes }: RenderedMedia, taskId: string): RenderedMedia {
  const mark = sha256(taskId);
  const box = Buffer.alloc(8 + 32);
  box.writeUInt32BE(box.length, 0);
  box.write('free', 4, 'latin1');
  box.write(mark, 8, 'hex');
  return { bytes: Buffer.concat([bytes, box]), etag: `"${mark.slice(0, 32)}"` };
}
