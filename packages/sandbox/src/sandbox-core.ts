import { type FastifyRequest } from 'fastify';
import { countAccepted, emptyCounters, PollGaps, type SandboxCounters } from './counters';
import { type FaultAction, FaultRules } from './faults';
import { type GeneratedFile, LinkSigner, MediaStore } from './media-store';
import { behaviourOf } from './models';
import {
  type AcceptedImages,
  DataDir,
  type ResolvedSandboxOptions,
  type SandboxIdempotency,
} from './options';
import { readDirectives } from './prompt-directives';
import { errorReply, type SandboxReply } from './reply';
import { RequestLog, type SandboxRequest, hexDigest } from './request-log';
import { type SandboxTask, type SandboxTaskPatch } from './tasks';

/** State that the routes of one sandbox share. */
export class SandboxCore {
  readonly log: RequestLog;
  readonly faults = new FaultRules();
  readonly media = new MediaStore();
  readonly pollGaps = new PollGaps();
  readonly keys = new IdempotencyKeys();
  readonly signer: LinkSigner;
  /** Functions that complete stalled replies. */
  readonly stalled = new Set<() => void>();
  readonly tasks = new Map<string, SandboxTask>();
  readonly images: AcceptedImages[] = [];
  readonly generated = new Map<string, GeneratedFile>();
  counters: SandboxCounters;
  /** Both addresses are set once the servers listen. Neither has a trailing slash. */
  url = '';
  mediaUrl = '';
  private readonly data: DataDir;
  private usedDirectives = new Set<string>();
  private saving: NodeJS.Timeout | undefined;
  private turns = 0;

  constructor(readonly options: ResolvedSandboxOptions) {
    this.data = new DataDir(options.dataDir);
    this.log = new RequestLog(options.dataDir);
    this.signer = new LinkSigner(this.data.secret());
    this.faults.add(options.faults);
    this.counters = this.restore();
  }

  /** Stores a new task before the reply is sent. */
  acceptTask(task: Omit<SandboxTask, 'turn'>): SandboxTask {
    const whole: SandboxTask = { ...task, turn: this.turns };
    this.data.append({ type: 'task', task: whole });
    this.keepTask(whole);
    countAccepted(this.counters, { operation: 'create', model: task.model, prompt: task.prompt, results: 0 });
    this.touch();
    return whole;
  }

  acceptImages(call: AcceptedImages): void {
    this.data.append({ type: 'image', ...call });
    this.images.push(call);
    for (const file of call.files) this.generated.set(file.name, file);
    countAccepted(this.counters, call);
    this.touch();
  }

  /** Changes a task. Returns undefined if the id is unknown. */
  patchTask(id: string, patch: SandboxTaskPatch): SandboxTask | undefined {
    const task = this.tasks.get(id);
    if (task === undefined) return undefined;
    this.data.append({ type: 'patch', id, patch });
    return Object.assign(task, patch);
  }

  /** Returns the next fault that the prompt's directives request. Each is used once per prompt and operation. */
  takeDirective(operation: string, prompt: string): FaultAction | undefined {
    for (const [position, action] of readDirectives(prompt).onSubmit.entries()) {
      const key = hexDigest(`${operation}\n${position}\n${prompt}`);
      if (this.usedDirectives.has(key)) continue;
      this.usedDirectives.add(key);
      return action;
    }
    return undefined;
  }

  /** Completes all stalled replies and returns how many there were. */
  releaseStalled(): number {
    const waiting = [...this.stalled];
    this.stalled.clear();
    for (const resume of waiting) resume();
    return waiting.length;
  }

  /** Deletes tasks, images, requests, counters and faults, then restores the faults from the options. */
  reset(): void {
    this.releaseStalled();
    this.tasks.clear();
    this.images.length = 0;
    this.generated.clear();
    this.usedDirectives.clear();
    this.turns = 0;
    this.counters = emptyCounters();
    this.log.clear();
    this.pollGaps.clear();
    this.keys.clear();
    this.faults.clear();
    this.faults.add(this.options.faults);
    this.data.clear();
    this.data.saveCounters(this.counters);
  }

  /** Saves the counters after a delay instead of on every poll. Accepted calls are already on disk. */
  touch(): void {
    if (this.options.dataDir === undefined) return;
    this.saving ??= setTimeout(() => {
      this.saving = undefined;
      this.data.saveCounters(this.counters);
    }, 200).unref();
  }

  async close(): Promise<void> {
    clearTimeout(this.saving);
    this.data.saveCounters(this.counters);
    await this.media.close();
    await this.log.close();
  }

  private keepTask(task: SandboxTask): void {
    this.turns = task.turn + 1;
    this.tasks.set(task.id, task);
    const direct = behaviourOf(task.model).content === 'direct';
    const effects = readDirectives(task.prompt);
    const bound = { taskId: task.id };
    this.faults.add(effects.onPoll.map((fault) => ({ ...bound, operation: 'poll', ...fault })));
    for (const fault of effects.onContent) {
      // Only the origin that sends the bytes can cut them off; an expired file is missing on both origins.
      const operation = fault.action.type === 'cut_body' && !direct ? 'media' : 'content';
      this.faults.add([{ ...bound, operation, ...fault }]);
      if (fault.action.type === 'expired') this.faults.add([{ ...bound, operation: 'media', ...fault }]);
    }
  }

  private restore(): SandboxCounters {
    const counters = this.data.counters() ?? emptyCounters();
    counters.acceptedByModel = {};
    counters.acceptedByPromptHash = {};
    counters.creates.accepted = counters.images.accepted = counters.images.results = 0;
    for (const name of ['create', 'generate', 'edit'] as const) counters.operations[name].accepted = 0;
    for (const line of this.data.accepted()) {
      if (line.type === 'task') {
        this.keepTask(line.task);
        const { model, prompt } = line.task;
        countAccepted(counters, { operation: 'create', model, prompt, results: 0 });
      } else if (line.type === 'patch') {
        const task = this.tasks.get(line.id);
        if (task !== undefined) Object.assign(task, line.patch);
      } else {
        this.images.push(line);
        for (const file of line.files) this.generated.set(file.name, file);
        countAccepted(counters, line);
      }
    }
    return counters;
  }
}

/** Options for both servers: long ids, large uploads, keep-alive longer than a poll interval, immediate close. */
export const serverOptions = {
  bodyLimit: 512 * 1024 * 1024,
  forceCloseConnections: true,
  keepAliveTimeout: 72_000,
  requestTimeout: 0,
  routerOptions: { maxParamLength: 2_048 },
} as const;

interface PaidRequest {
  readonly request: FastifyRequest;
  readonly entry: SandboxRequest;
  readonly core: { readonly options: { readonly idempotency: SandboxIdempotency } };
}

interface KnownCall {
  /** A digest of the body or, for multipart, of the parts, because the boundary differs between equal requests. */
  readonly content: string;
  readonly taskId: string | null;
  readonly reply: Promise<SandboxReply>;
  isOver: boolean;
}

/** Paid calls by their idempotency key, in the modes that read keys. */
class IdempotencyKeys {
  private readonly calls = new Map<string, KnownCall>();

  clear(): void {
    this.calls.clear();
  }

  /**
   * Accepts a call, or repeats the reply of the first call with the same key. Replies with 409 if the first call is
   * still running, and with 422 if it had another body.
   */
  async accept(
    { entry, core, request }: PaidRequest,
    accept: () => Promise<SandboxReply>,
  ): Promise<SandboxReply> {
    const key = request.headers['idempotency-key'];
    if (core.options.idempotency === 'ignored' || typeof key !== 'string') return accept();
    const name = `${entry.operation}\n${key}`;
    const before = this.calls.get(name);
    const content = entry.parts === undefined ? entry.bodySha256 : JSON.stringify(entry.parts);
    if (before !== undefined && before.content !== content)
      return refused(422, 'This key was already used for a different request.', 'idempotency_key_mismatch');
    if (before === undefined || core.options.idempotency === 'claimed') {
      const reply = accept();
      const { taskId = null } = entry;
      const call: KnownCall = { content, taskId, reply, isOver: false };
      this.calls.set(name, call);
      return reply.finally(() => {
        call.isOver = true;
      });
    }
    if (!before.isOver) return refused(409, 'A request with this key is in progress.', 'request_in_progress');
    if (before.taskId !== null) entry.taskId = before.taskId;
    const { status, headers, body } = await before.reply;
    return { status, headers: { ...headers, 'idempotent-replayed': 'true' }, body };
  }
}

function refused(status: number, message: string, code: string): SandboxReply {
  return errorReply(status, message, { param: 'idempotency-key', code });
}
