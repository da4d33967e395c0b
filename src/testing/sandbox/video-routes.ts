import { type FastifyInstance } from 'fastify';
import { type Exchange } from './exchange';
import { type FaultAction } from './fault-rule';
import { type JsonObject, textOf } from './json-value';
import { behaviourOf } from './model-behaviour';
import { answerPaidCall, refuseCredentials, refuseViolations } from './paid-call';
import { readDirectives } from './prompt-directives';
import { rangedReply } from './ranged-reply';
import { answerReadCall } from './read-call';
import { requestJudges } from './request-judge';
import { shortened } from './request-log';
import { apiRoute } from './api-route';
import { type SandboxCore } from './sandbox-core';
import { errorReply, jsonReply, type SandboxReply } from './sandbox-reply';
import { newTaskId, statusAt, type SandboxTask } from './sandbox-task';
import { failureFields } from './task-failure';
import { mergeRecord, taskRecord, videoSpecOf, type ResultLinks } from './task-record';

/** Create, poll and download a video (contract 4). */
export function addVideoRoutes(app: FastifyInstance, core: SandboxCore): void {
  apiRoute(app, core, { method: 'POST', url: '/v1/videos', operation: 'create' }, createVideo);
  apiRoute(app, core, { method: 'GET', url: '/v1/videos/:id', operation: 'poll' }, pollVideo);
  apiRoute(app, core, { method: 'GET', url: '/v1/videos/:id/content', operation: 'content' }, readContent);
}

async function createVideo(exchange: Exchange): Promise<void> {
  const { core } = exchange;
  const body = exchange.json();
  await answerPaidCall(exchange, {
    operation: 'create',
    model: textOf(body?.model),
    prompt: textOf(body?.prompt),
    violations: requestJudges[core.options.mode].video(exchange, body),
    accept: async () => {
      const task = acceptTask(core, body ?? {});
      exchange.entry.accepted = true;
      exchange.entry.taskId = task.id;
      return jsonReply(
        200,
        taskRecord(task, task.createdAt, core.options.records, () => linksOf(core, task)),
      );
    },
  });
}

function acceptTask(core: SandboxCore, body: JsonObject): SandboxTask {
  const model = textOf(body.model);
  const prompt = textOf(body.prompt);
  const effects = readDirectives(prompt);
  const usual = { ...behaviourOf(model), ...core.options.timing };
  const { prompt: _, ...request } = shortened(body) as JsonObject;
  const failure = effects.fails && failureFields(effects.fails, core.tasks.size);
  return core.acceptTask({
    id: newTaskId(model),
    model,
    prompt,
    request,
    createdAt: Date.now(),
    queuedMs: effects.queuedMs ?? usual.queuedMs,
    runningMs: effects.runningMs ?? usual.runningMs,
    ...(failure === undefined ? {} : { failure }),
  });
}

async function pollVideo(exchange: Exchange, id: string): Promise<void> {
  const { core } = exchange;
  const refused = refuseRead(exchange);
  if (refused !== undefined) return exchange.send(refused);
  const task = core.tasks.get(id);
  await answerReadCall(exchange, {
    taskId: id,
    model: task?.model,
    prompt: task?.prompt,
    mediaType: 'application/json',
    reply: (fault) => (task === undefined ? noSuchTask(id) : record(core, task, fault)),
  });
}

function record(core: SandboxCore, task: SandboxTask, fault: FaultAction | undefined): SandboxReply {
  if (fault?.type === 'task_fails') {
    const failure = fault.error === undefined ? failureFields('unknown', task.turn) : { error: fault.error };
    const progress = fault.progress === undefined ? {} : { failedProgress: fault.progress };
    core.patchTask(task.id, { status: 'failed', failure, ...progress });
  }
  const now = Date.now();
  // Encoding starts when completion is first seen, so that the download finds the file ready.
  if (statusAt(task, now) === 'completed')
    core.media.warm(videoSpecOf(task, core.options.videos === 'shared'));
  const shown = taskRecord(task, now, core.options.records, () => linksOf(core, task));
  if (fault?.type === 'status_word') return jsonReply(200, { ...shown, status: fault.status });
  return jsonReply(200, fault?.type === 'record' ? mergeRecord(shown, fault.patch) : shown);
}

async function readContent(exchange: Exchange, id: string): Promise<void> {
  const { core } = exchange;
  const refused = refuseRead(exchange);
  if (refused !== undefined) return exchange.send(refused);
  const task = core.tasks.get(id);
  await answerReadCall(exchange, {
    taskId: id,
    model: task?.model,
    prompt: task?.prompt,
    mediaType: 'video/mp4',
    notReady: behaviourOf(task?.model ?? '').notReadyStatus,
    reply: () => (task === undefined ? noSuchTask(id) : content(exchange, task)),
  });
}

async function content(exchange: Exchange, task: SandboxTask): Promise<SandboxReply> {
  const { core } = exchange;
  const behaviour = behaviourOf(task.model);
  const status = statusAt(task, Date.now());
  if (status === 'failed') return errorReply(422, 'The task has failed.', { code: 'task_failed' });
  if (status !== 'completed') {
    exchange.entry.violations.push('content was asked for before the task was completed');
    return errorReply(behaviour.notReadyStatus, 'The content is not available yet.', { code: 'not_ready' });
  }
  if (behaviour.content === 'redirect') {
    const headers = {
      location: linksOf(core, task).signed,
      // A cookie that must stay on this origin: the media origin reports it when it arrives there.
      'set-cookie': 'sandbox_session=1; Path=/; HttpOnly',
    };
    return { status: 302, headers, body: Buffer.alloc(0) };
  }
  const media = await core.media.get(videoSpecOf(task, core.options.videos === 'shared'));
  return rangedReply(media, 'video/mp4', exchange.request.headers);
}

function refuseRead(exchange: Exchange): SandboxReply | undefined {
  const violations = requestJudges[exchange.core.options.mode].read(exchange);
  exchange.entry.violations.push(...violations.map((one) => one.message));
  return refuseCredentials(exchange) ?? refuseViolations(violations);
}

/** Contract 7: an id that cannot be one gives 400, an id that could be gives 404. */
function noSuchTask(id: string): SandboxReply {
  const possible = /^[A-Za-z0-9:_-]{8,64}$/.test(id);
  return errorReply(possible ? 404 : 400, 'No such task.', { param: 'task_id', code: 'task_not_found' });
}

function linksOf(core: SandboxCore, task: SandboxTask): ResultLinks {
  const path = `/files/${encodeURIComponent(task.id)}.mp4`;
  const contentPath = `${core.options.pathPrefix}/v1/videos/${encodeURIComponent(task.id)}/content`;
  return {
    signed: `${core.mediaUrl}${path}?${core.signer.sign(path, Date.now() + core.options.linkTtlMs)}`,
    content: new URL(contentPath, core.url).href,
    contentPath,
  };
}
