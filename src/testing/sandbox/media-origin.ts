import fastify, { type FastifyInstance } from 'fastify';
import { apiRoute, type Exchange, openExchanges } from './exchange';
import { errorReply, rangedReply, type SandboxReply } from './reply';
import { answerReadCall } from './read-call';
import { type SandboxCore, serverOptions } from './sandbox-core';
import { taskVideo } from './task-video';

/**
 * The second origin, on its own port: serves videos through signed, expiring links. It represents an external host, so
 * a key or a cookie that arrives here violates the contract (section 5, rule 3).
 */
export function createMediaOrigin(core: SandboxCore): FastifyInstance {
  const app = fastify(serverOptions);
  openExchanges(app, core, 'media');
  apiRoute(app, core, { method: 'GET', url: '/files/:id', operation: 'media' }, readFile);
  return app;
}

async function readFile(exchange: Exchange, name: string): Promise<void> {
  const { core, entry } = exchange;
  if (entry.authorization !== 'none')
    entry.violations.push('an Authorization header reached the media origin');
  if (entry.cookie) entry.violations.push('a cookie reached the media origin');
  const task = core.tasks.get(name.replace(/\.mp4$/, ''));
  await answerReadCall(exchange, {
    taskId: task?.id,
    model: task?.model,
    prompt: task?.prompt,
    mediaType: 'video/mp4',
    reply: async (): Promise<SandboxReply> => {
      const state = core.signer.check(entry.path, exchange.query, Date.now());
      if (state === 'invalid')
        return errorReply(403, 'The signature does not match.', { code: 'bad_signature' });
      if (state === 'expired') return errorReply(403, 'The link has expired.', { code: 'link_expired' });
      if (task === undefined) return errorReply(404, 'No such file.', { code: 'not_found' });
      const media = await taskVideo(core, task);
      return rangedReply(media, 'video/mp4', exchange.request.headers);
    },
  });
}
