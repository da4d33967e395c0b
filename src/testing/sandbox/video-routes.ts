import { type FastifyInstance } from 'fastify';
import { acceptTask } from './accept-task';
import { apiRoute } from './api-route';
import { contentReply } from './content-reply';
import { type Exchange } from './exchange';
import { type FaultAction } from './fault-rule';
import { textOf } from './json-value';
import { behaviourOf } from './model-behaviour';
import { answerPaidCall, refuseCredentials, refuseViolations } from './paid-call';
import { pollReply } from './poll-reply';
import { readBody } from './read-body';
import { answerReadCall } from './read-call';
import { requestJudges } from './request-judge';
import { type SandboxCore } from './sandbox-core';
import { errorReply, jsonReply, type SandboxReply } from './sandbox-reply';
import { type SandboxTask } from './sandbox-task';
import { writeRecord } from './write-record';

/** Create, poll and download a video (contract 4). */
export function addVideoRoutes(app: FastifyInstance, core: SandboxCore): void {
  const [poll, content] = [readTask('application/json', pollReply), readTask('video/mp4', contentReply)];
  apiRoute(app, core, { method: 'POST', url: '/v1/videos', operation: 'create' }, createVideo);
  apiRoute(app, core, { method: 'GET', url: '/v1/videos/:id', operation: 'poll' }, poll);
  apiRoute(app, core, { method: 'GET', url: '/v1/videos/:id/content', operation: 'content' }, content);
}

async function createVideo(exchange: Exchange): Promise<void> {
  const { core } = exchange;
  const body = await readBody(exchange);
  if (body === 'unreadable') return;
  await answerPaidCall(exchange, {
    operation: 'create',
    model: textOf(body?.model),
    prompt: textOf(body?.prompt),
    violations: requestJudges[core.options.mode].video(exchange, body),
    accept: async () => {
      const task = acceptTask(core, body ?? {});
      exchange.entry.accepted = true;
      exchange.entry.taskId = task.id;
      return jsonReply(200, await writeRecord(core, task, task.createdAt));
    },
  });
}

/** The normal reply about one task; `fault` may change the record. */
type TaskReply = (exchange: Exchange, task: SandboxTask, fault?: FaultAction) => Promise<SandboxReply>;

/** A route that reads one task: credentials, then the contract, then the fault rules, then the reply. */
function readTask(mediaType: string, reply: TaskReply): (exchange: Exchange, id: string) => Promise<void> {
  return async (exchange, id) => {
    const { core, entry } = exchange;
    const violations = requestJudges[core.options.mode].read(exchange);
    entry.violations.push(...violations.map((one) => one.message));
    const refused = refuseCredentials(exchange) ?? refuseViolations(violations);
    if (refused !== undefined) return exchange.send(refused);
    const task = core.tasks.get(id);
    await answerReadCall(exchange, {
      taskId: id,
      model: task?.model,
      prompt: task?.prompt,
      mediaType,
      notReady: behaviourOf(task?.model ?? '').notReadyStatus,
      reply: (fault) => (task === undefined ? noSuchTask(id) : reply(exchange, task, fault)),
    });
  };
}

/** Contract 7: an id that cannot be one gives 400, an id that could be gives 404. */
function noSuchTask(id: string): SandboxReply {
  const possible = /^[A-Za-z0-9:_-]{8,64}$/.test(id);
  return errorReply(possible ? 404 : 400, 'No such task.', { param: 'task_id', code: 'task_not_found' });
}
