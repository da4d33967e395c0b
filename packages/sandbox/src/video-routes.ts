import { type FastifyInstance } from 'fastify';
import { answerPaidCall, answerReadCall, refuseCredentials, refuseViolations } from './answer-call';
import { compatFailure, compatRecord } from './compat';
import { apiRoute, type Exchange, idempotencyKeyOf, readCreateBody } from './exchange';
import { type FaultAction } from './faults';
import { fieldText, type JsonObject } from './json-value';
import { type RenderedMedia } from './media-store';
import { behaviourOf } from './models';
import { dialectOf } from './options';
import { readDirectives } from './prompt-directives';
import { errorReply, jsonReply, rangedReply, type SandboxReply } from './reply';
import { hexDigest, shortened } from './request-log';
import { type SandboxCore } from './sandbox-core';
import {
  failureFields,
  mergeRecord,
  newTaskId,
  type ResultLinks,
  type SandboxTask,
  statusAt,
  taskRecord,
  videoSpecOf,
} from './tasks';
import { requestValidators } from './validators-by-mode';

/** Returns a task's video. The `videos` option decides whether it is shared. */
export async function taskVideo(core: SandboxCore, task: SandboxTask): Promise<RenderedMedia> {
  const media = await core.media.get(specOf(core, task));
  return core.options.videos === 'stamped' ? stamped(media, task.id) : media;
}

/** Starts encoding before a request needs the video. */
function warmTaskVideo(core: SandboxCore, task: SandboxTask): void {
  core.media.warm(specOf(core, task));
}

function specOf(core: SandboxCore, task: SandboxTask): ReturnType<typeof videoSpecOf> {
  return videoSpecOf(task, core.options.videos !== 'per_task');
}

/** Appends an MP4 box that players skip, so that no two tasks have the same bytes. */
function stamped({ bytes }: RenderedMedia, taskId: string): RenderedMedia {
  const mark = hexDigest(taskId);
  const box = Buffer.alloc(8 + 32);
  box.writeUInt32BE(box.length, 0);
  box.write('free', 4, 'latin1');
  box.write(mark, 8, 'hex');
  return { bytes: Buffer.concat([bytes, box]), etag: `"${mark.slice(0, 32)}"` };
}

/** Adds the routes that create, poll and download a video (contract 4). */
export function addVideoRoutes(app: FastifyInstance, core: SandboxCore): void {
  const [poll, content] = [readTask('application/json', pollReply), readTask('video/mp4', contentReply)];
  apiRoute(app, core, { method: 'POST', url: '/v1/videos', operation: 'create' }, createVideo);
  apiRoute(app, core, { method: 'GET', url: '/v1/videos/:id', operation: 'poll' }, poll);
  apiRoute(app, core, { method: 'GET', url: '/v1/videos/:id/content', operation: 'content' }, content);
}

async function createVideo(exchange: Exchange): Promise<void> {
  const { core } = exchange;
  const body = await readCreateBody(exchange);
  if (body === 'unreadable') return;
  await answerPaidCall(exchange, {
    operation: 'create',
    model: fieldText(body?.model),
    prompt: fieldText(body?.prompt),
    violations: requestValidators[core.options.mode].video(exchange, body),
    accept: async () => {
      const task = acceptTask(core, body ?? {}, idempotencyKeyOf(exchange.request));
      exchange.entry.accepted = true;
      exchange.entry.taskId = task.id;
      return jsonReply(200, await writeRecord(core, task, task.createdAt));
    },
  });
}

/** The normal reply about one task; `fault` may change the record. */
type TaskReply = (exchange: Exchange, task: SandboxTask, fault?: FaultAction) => Promise<SandboxReply>;

/**
 * Returns a route that reads one task: checks the credentials and the contract, applies the fault rules, then replies.
 */
function readTask(mediaType: string, reply: TaskReply): (exchange: Exchange, id: string) => Promise<void> {
  return async (exchange, id) => {
    const { core, entry } = exchange;
    const violations = requestValidators[core.options.mode].read(exchange);
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

/** Contract 7: 400 for a malformed id, 404 for an unknown one. */
function noSuchTask(id: string): SandboxReply {
  const possible = /^[A-Za-z0-9:_-]{8,64}$/.test(id);
  return errorReply(possible ? 404 : 400, 'No such task.', { param: 'task_id', code: 'task_not_found' });
}

/** Creates and stores the task for a validated create request. */
export function acceptTask(
  core: SandboxCore,
  body: JsonObject,
  key: Pick<SandboxTask, 'idempotencyKey'> = {},
): SandboxTask {
  const model = fieldText(body.model);
  const prompt = fieldText(body.prompt);
  const effects = readDirectives(prompt);
  const usual = { ...behaviourOf(model), ...core.options.timing };
  const { prompt: _, ...request } = shortened(body) as JsonObject;
  const failures = core.options.mode === 'compat' ? compatFailure(model) : failureFields;
  const failure = effects.fails && failures(effects.fails, core.tasks.size);
  return core.acceptTask({
    id: newTaskId(model),
    model,
    prompt,
    request,
    ...key,
    createdAt: Date.now(),
    queuedMs: effects.queuedMs ?? usual.queuedMs,
    runningMs: effects.runningMs ?? usual.runningMs,
    ...(failure === undefined ? {} : { failure }),
  });
}

/** Returns a task's current record. Faults change it for this reply, or permanently (`task_fails`). */
async function pollReply({ core }: Exchange, task: SandboxTask, fault?: FaultAction): Promise<SandboxReply> {
  const compat = core.options.mode === 'compat';
  if (fault?.type === 'task_fails') {
    const failures = compat ? compatFailure(task.model) : failureFields;
    const failure = fault.error === undefined ? failures('unknown', task.turn) : { error: fault.error };
    const progress = fault.progress === undefined ? {} : { failedProgress: fault.progress };
    core.patchTask(task.id, { status: 'failed', failure, ...progress });
  }
  const now = Date.now();
  const status = statusAt(task, now);
  core.pollGaps.polled(task.id, now);
  if (status === 'completed' || status === 'failed') core.pollGaps.forget(task.id);
  // Encoding starts at the first poll after completion, so that the file is ready for the download.
  if (status === 'completed') warmTaskVideo(core, task);
  const shown = await writeRecord(core, task, now);
  if (fault?.type === 'status_word') return jsonReply(200, { ...shown, status: fault.status });
  const httpStatus = compat && status === 'failed' ? dialectOf(task.model).failedPollStatus : 200;
  return jsonReply(httpStatus, fault?.type === 'record' ? mergeRecord(shown, fault.patch) : shown);
}

/** Returns a completed task's video or a redirect to it (contract 4), or an error if the task is not completed. */
async function contentReply(exchange: Exchange, task: SandboxTask): Promise<SandboxReply> {
  const { core } = exchange;
  const behaviour = behaviourOf(task.model);
  const status = statusAt(task, Date.now());
  if (status === 'failed') return errorReply(422, 'The task has failed.', { code: 'task_failed' });
  if (status !== 'completed') {
    exchange.entry.violations.push('content was requested before the task was completed');
    return errorReply(behaviour.notReadyStatus, 'The content is not available yet.', { code: 'not_ready' });
  }
  const variant = exchange.query.get('variant') ?? 'video';
  if (core.options.mode === 'compat' && variant !== 'video') {
    return errorReply(400, 'No such variant.', { param: 'variant', code: 'invalid_variant' });
  }
  if (behaviour.content === 'redirect') {
    const headers = {
      location: linksOf(core, task).signed,
      // The client must not send this cookie to the media origin, which would report that as a violation.
      'set-cookie': 'sandbox_session=1; Path=/; HttpOnly',
    };
    return { status: 302, headers, body: Buffer.alloc(0) };
  }
  const media = await taskVideo(core, task);
  return rangedReply(media, 'video/mp4', exchange.request.headers);
}

/** Returns a task's record at a given time (Unix milliseconds), in the format that the sandbox's mode uses. */
export async function writeRecord(core: SandboxCore, task: SandboxTask, now: number): Promise<JsonObject> {
  const { mode, records, linkTtlMs } = core.options;
  if (mode === 'strict') return taskRecord(task, now, records, () => linksOf(core, task));
  const embeds = dialectOf(task.model).embedsVideo && statusAt(task, now) === 'completed';
  const media = embeds ? await taskVideo(core, task) : undefined;
  const dataUrl = media === undefined ? '' : `data:video/mp4;base64,${media.bytes.toString('base64')}`;
  return compatRecord(task, now, { records, linkTtlMs, links: () => ({ ...linksOf(core, task), dataUrl }) });
}

/** Returns every address of a task's video. The signed one expires after `linkTtlMs`. */
function linksOf(core: SandboxCore, task: SandboxTask): ResultLinks {
  const path = `/files/${encodeURIComponent(task.id)}.mp4`;
  const contentPath = `${core.options.pathPrefix}/v1/videos/${encodeURIComponent(task.id)}/content`;
  return {
    signed: `${core.mediaUrl}${path}?${core.signer.sign(path, Date.now() + core.options.linkTtlMs)}`,
    content: new URL(contentPath, core.url).href,
    contentPath,
  };
}
