import { type SandboxCore } from './sandbox-core';
import { type ResultLinks, type SandboxTask } from './tasks';

/** Every address of a task's video; the signed one expires after `linkTtlMs`. */
export function linksOf(core: SandboxCore, task: SandboxTask): ResultLinks {
  const path = `/files/${encodeURIComponent(task.id)}.mp4`;
  const contentPath = `${core.options.pathPrefix}/v1/videos/${encodeURIComponent(task.id)}/content`;
  return {
    signed: `${core.mediaUrl}${path}?${core.signer.sign(path, Date.now() + core.options.linkTtlMs)}`,
    content: new URL(contentPath, core.url).href,
    contentPath,
  };
}
