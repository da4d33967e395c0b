import { type TaskRecords } from '../../../src/activities/paid-context';
import { CREATE_TIMEOUTS } from '../../../src/domain/timeouts';
import { type ConnectionFactory } from '../../../src/service/connections';
import { type GetVideoResult } from '../../../src/service/media-client';
import { execution, type Execution } from './activity-sdk';
import { type Observations, type Refusal, type Send } from './observations';
import { currentTime } from './virtual-globals';

/** What the service, or the network in between, makes of one create. */
export type Reaction =
  | 'accepts'
  | 'accepts, reply lost'
  | 'accepts, reply too late'
  | 'accepts long after, reply lost'
  | 'accepts, unreadable reply'
  | 'accepts, then 500'
  | 'accepts, then 502'
  | 'accepts, then 503'
  | 'accepts, then 504'
  | 'lost on the way'
  | '500'
  | '502'
  | '503'
  | '503 with Retry-After'
  | '429'
  | '429 with Retry-After'
  | '425'
  | '400'
  | '401'
  | '402'
  | 'moderation'
  | 'connection refused'
  | 'no answer to the connection';

export type ReactionWeights = Readonly<Partial<Record<Reaction, number>>>;

/** Parts of undici that src/service/paid-exchange.ts touches. */
interface Handler {
  onRequestStart?(controller: { abort(reason: Error): void }, context: unknown): void;
}
type Dispatch = (options: unknown, handler: Handler) => boolean;
interface Request {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}
interface FakeReply {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

const JSON_TYPE = { 'content-type': 'application/json' };
const CONNECT_TIMEOUT_MS = 10_000;
const LATEST_ACCEPTANCE_MS = 200_000;

/**
 * The service on the far side of the real paid exchange: the real client composes its marker, sends, waits, reads and
 * classifies; only sockets are missing. What it accepts it counts, whatever becomes of its reply.
 */
export class PaidService {
  private tasks = 0;
  private readonly byKey = new Map<string, { readonly taskId: string; readonly at: number }>();

  constructor(
    private readonly observations: Observations,
    public weights: ReactionWeights,
    /** Calls with one key are one purchase for so long. */
    private readonly honoursForMs: number,
    /** Which journal the workers have. */
    private readonly journal: () => number,
  ) {}

  /** For `createMediaClient`. */
  readonly connectionFactory: ConnectionFactory = () => {
    const dispatcher = {
      compose: (interceptor: (dispatch: Dispatch) => Dispatch) => ({
        request: (options: Request) => this.exchange(interceptor, options),
      }),
      destroy: () => Promise.resolve(),
    };
    return { dispatcher, viaProxy: false } as unknown as ReturnType<ConnectionFactory>;
  };

  /** The answer to a poll, as far as an adoption reads it. */
  recordOf(taskId: string): GetVideoResult {
    return (
      this.observations.accepted.some((task) => task.taskId === taskId)
        ? { kind: 'record', httpStatus: 200, record: { status: 'queued' } }
        : { kind: 'error', error: 'not_found', httpStatus: 404 }
    ) as GetVideoResult;
  }

  /** Honest records: complete after the longest request, and sometimes out of reach. */
  records(nonceOf: (intentAt: string) => string | undefined): TaskRecords {
    return {
      longestRequestMs: LATEST_ACCEPTANCE_MS,
      find: async ({ intentAt }) => {
        await currentTime().pause(2);
        if (currentTime().random.chance(0.2)) return { found: 'unknown' };
        const task = this.observations.accepted.find(({ send }) => send.nonce === nonceOf(intentAt));
        return task === undefined ? { found: 'none' } : { found: 'task', taskId: task.taskId };
      },
    };
  }

  private exchange(interceptor: (dispatch: Dispatch) => Dispatch, options: Request): Promise<FakeReply> {
    const time = currentTime();
    const caller = execution();
    const reaction = time.random.weighted<Reaction>(this.weights);
    return new Promise((resolve, reject) => {
      if (reaction === 'no answer to the connection') {
        time.after(CONNECT_TIMEOUT_MS, caller, () => reject(networkError('UND_ERR_CONNECT_TIMEOUT')));
        return;
      }
      time.after(time.random.between(1, 4), caller, () => {
        if (reaction === 'connection refused') return reject(networkError('ECONNREFUSED'));
        const dispatch: Dispatch = (_, handler) => {
          let aborted = false;
          handler.onRequestStart?.({ abort: () => void (aborted = true) }, {});
          if (aborted) reject(networkError('UND_ERR_ABORTED'));
          else this.leaves(reaction, caller, options, resolve, reject);
          return true;
        };
        interceptor(dispatch)(options, {});
      });
    });
  }

  /** From here on the request is on its way, whatever becomes of its sender. */
  private leaves(
    reaction: Reaction,
    caller: Execution,
    request: Request,
    resolve: (reply: FakeReply) => void,
    reject: (error: Error) => void,
  ): void {
    const time = currentTime();
    const send = this.noteSend(caller, request);
    time.say(() => `sends from place ${send.place}: ${reaction}`);
    const reply = (delay: number, answer: () => void): void => void time.after(delay, caller, answer);
    const respond = (
      status: number,
      content: string,
      headers: Readonly<Record<string, string>> = {},
    ): void => {
      time.after(time.random.between(1, 6), time.world, () => {
        const refusal = this.noteRefusal(send, status, headers);
        reply(time.random.between(1, 4), () => {
          // Who was stopped meanwhile has no time left to read it.
          if (refusal !== undefined) refusal.heard = time.now - send.at < CREATE_TIMEOUTS.httpBudgetMs;
          time.say(() => `reply ${status}`);
          resolve({ statusCode: status, headers: { ...JSON_TYPE, ...headers }, body: bodyOf(content) });
        });
      });
    };
    const breaks = (delay: number): void => reply(delay, () => reject(networkError('UND_ERR_SOCKET')));
    const accept = (delay: number, then: (taskId: string) => void): void => {
      time.after(delay, time.world, () => then(this.accept(send)));
    };
    const error = (code: string): string => JSON.stringify({ error: { code, message: 'no' } });
    const soon = time.random.between(1, 6);
    switch (reaction) {
      case 'accepts':
        return accept(soon, (id) => respond(200, JSON.stringify({ id, status: 'queued' })));
      case 'accepts, reply lost':
        return accept(soon, () => breaks(time.random.between(1, 40_000)));
      case 'accepts, reply too late':
        return accept(soon, (id) =>
          reply(time.random.between(60_000, 90_000), () =>
            resolve({ statusCode: 200, headers: JSON_TYPE, body: bodyOf(JSON.stringify({ id })) }),
          ),
        );
      case 'accepts long after, reply lost':
        breaks(time.random.between(1, 50));
        return accept(time.random.between(1_000, LATEST_ACCEPTANCE_MS), () => undefined);
      case 'accepts, unreadable reply':
        return accept(soon, () => respond(200, '{"status":"queued"}'));
      case 'accepts, then 500':
      case 'accepts, then 502':
      case 'accepts, then 503':
      case 'accepts, then 504':
        return accept(soon, () => respond(Number(reaction.slice(-3)), ''));
      case 'lost on the way':
        return breaks(time.random.between(1, 40_000));
      case '500':
      case '502':
      case '503':
      case '400':
      case '429':
      case '425':
        return respond(Number(reaction), '');
      case '429 with Retry-After':
      case '503 with Retry-After':
        return respond(Number(reaction.slice(0, 3)), '', this.retryAfter());
      case '401':
        return respond(401, error('invalid_api_key'), this.sometimesRetryAfter());
      case '402':
        return respond(402, error('insufficient_quota'), this.sometimesRetryAfter());
      case 'moderation':
        return respond(400, error('content_policy_violation'));
      default:
        throw new Error(`${reaction} leaves nothing`);
    }
  }

  private noteSend(caller: Execution, { body, headers }: Request): Send {
    const { info } = caller;
    const idempotencyKey = this.honoursForMs > 0 ? (headers['idempotency-key'] ?? null) : null;
    // A repetition writes no intent: it is a send of the one that its key belongs to.
    const first = this.observations.sends.find(
      (send) => idempotencyKey !== null && send.idempotencyKey === idempotencyKey,
    );
    const intent = first ?? caller.intent;
    const send: Send = {
      key: caller.creationKey,
      journal: this.journal(),
      place: intent?.place ?? -1,
      nonce: intent?.nonce ?? 'none',
      sender: caller.sender,
      runId: info.workflowExecution?.runId ?? info.activityRunId ?? '',
      prompt: (JSON.parse(body) as { prompt: string }).prompt,
      at: currentTime().now,
      startedAt: info.currentAttemptScheduledTimestampMs,
      idempotencyKey,
      isRepetition: caller.intent === undefined,
    };
    this.observations.sends.push(send);
    return send;
  }

  private accept(send: Send): string {
    const { idempotencyKey: key } = send;
    const before = key === null ? undefined : this.byKey.get(key);
    // What is vouched for is the time between requests, however long the service takes with one.
    if (before !== undefined && send.at - before.at <= this.honoursForMs) return before.taskId;
    const taskId = `video_${(this.tasks += 1)}`;
    this.observations.accepted.push({ send, taskId });
    if (key !== null) this.byKey.set(key, { taskId, at: send.at });
    currentTime().say(() => `the service accepts ${taskId} (place ${send.place})`);
    return taskId;
  }

  private noteRefusal(
    send: Send,
    status: number,
    headers: Readonly<Record<string, string>>,
  ): Refusal | undefined {
    const asked = headers['retry-after'];
    if (asked === undefined) return undefined;
    const at = currentTime().now;
    const until = /^\d+$/.test(asked) ? at + Number(asked) * 1000 : Date.parse(asked);
    const { key, journal, isRepetition: ofRepetition, idempotencyKey } = send;
    const mayBeRepeated = idempotencyKey !== null;
    const refusal = { key, journal, status, at, until, ofRepetition, mayBeRepeated, heard: false };
    this.observations.refusals.push(refusal);
    return refusal;
  }

  private sometimesRetryAfter(): Readonly<Record<string, string>> {
    return currentTime().random.chance(0.3) ? this.retryAfter() : {};
  }

  /** Seconds or a date, from nothing to beyond every limit. */
  private retryAfter(): Readonly<Record<string, string>> {
    const time = currentTime();
    const seconds = time.random.pick([0, 1, 7, 45, 120, 600, 1_000, 86_400]);
    const date = time.random.chance(0.3);
    return { 'retry-after': date ? new Date(time.now + seconds * 1000).toUTCString() : String(seconds) };
  }
}

function networkError(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** What `readBoundedBody` asks of a stream. */
function bodyOf(content: string): unknown {
  const body = {
    async *[Symbol.asyncIterator]() {
      if (content !== '') yield Buffer.from(content);
    },
    on: () => body,
    destroy: () => body,
  };
  return body;
}
