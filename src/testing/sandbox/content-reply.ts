import { type Exchange } from './exchange';
import { behaviourOf } from './model-behaviour';
import { rangedReply } from './ranged-reply';
import { errorReply, type SandboxReply } from './sandbox-reply';
import { statusAt, type SandboxTask } from './sandbox-task';
import { linksOf } from './task-links';
import { taskVideo } from './task-video';

/** The video of a completed task, or a redirect to it (contract 4); before that an error. */
export async function contentReply(exchange: Exchange, task: SandboxTask): Promise<SandboxReply> {
  const { core } = exchange;
  const behaviour = behaviourOf(task.model);
  const status = statusAt(task, Date.now());
  if (status === 'failed') return errorReply(422, 'The task has failed.', { code: 'task_failed' });
  if (status !== 'completed') {
    exchange.entry.violations.push('content was asked for before the task was completed');
    return errorReply(behaviour.notReadyStatus, 'The content is not available yet.', { code: 'not_ready' });
  }
  const variant = exchange.query.get('variant') ?? 'video';
  if (core.options.mode === 'compat' && variant !== 'video') {
    return errorReply(400, 'There is no such variant.', { param: 'variant', code: 'invalid_variant' });
  }
  if (behaviour.content === 'redirect') {
    const headers = {
      location: linksOf(core, task).signed,
      // A cookie that must stay on this origin: the media origin reports it when it arrives there.
      'set-cookie': 'sandbox_session=1; Path=/; HttpOnly',
    };
    return { status: 302, headers, body: Buffer.alloc(0) };
  }
  const media = await taskVideo(core, task);
  return rangedReply(media, 'video/mp4', exchange.request.headers);
}
