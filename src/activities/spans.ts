import type * as Otel from '@opentelemetry/api';
import { OTHER } from '../domain/ended-video-metrics';
import { type PollVideosInput, type PollVideosResult } from '../domain/poll-answers';
import { type PaidOperation } from '../domain/request';
import { type PaidFailure, type PaidSendOptions } from '../service/media-client';
import { countdown } from '../service/time-left';
import { pollsByAnswer } from './media-metrics';

/** What is known about a paid call before it is sent. */
interface SpannedSend {
  readonly operation: PaidOperation;
  readonly account: string;
  readonly model: string;
  /** Whether the model is in the configuration. */
  readonly isKnownModel: boolean;
  readonly sendAttempt: number;
}

export type Accepted = { readonly class: 'accepted'; readonly httpStatus: number; readonly taskId?: string };

/**
 * Wraps one paid request and its reply in a `media.create` span, without the work that follows. The tracer's own time
 * counts toward the call.
 */
export function sendInSpan<Reply extends Accepted | PaidFailure>(
  { operation, account, model, isKnownModel, sendAttempt }: SpannedSend,
  options: PaidSendOptions & { readonly deadlineMs: number },
  send: (options: PaidSendOptions) => Promise<Reply>,
): Promise<Reply> {
  const left = countdown(options.deadlineMs);
  return withSpan({
    name: 'media.create',
    attributes: () => ({
      'media.operation': operation,
      'media.account': account,
      // Callers choose the model names, so unknown names are not recorded.
      'media.model': isKnownModel ? model : OTHER,
      'media.send_attempt': sendAttempt,
    }),
    work: () => send({ ...options, deadlineMs: left() }),
    end: (reply) => ({
      attributes: {
        'media.outcome': OUTCOMES[reply.class],
        ...statusOf(reply),
        ...(reply.class === 'accepted' && { 'media.model': model }),
        // The client rejects any ID that contains a secret.
        ...(reply.class === 'accepted' && reply.taskId !== undefined && { 'media.task_id': reply.taskId }),
      },
      error: reply.class === 'accepted' ? undefined : reasonOf(reply),
    }),
  });
}

/** The same values that the metric for calls uses. */
const OUTCOMES = {
  accepted: 'accepted',
  rejected: 'refused',
  refused_for_now: 'refused',
  unconfirmed: 'unconfirmed',
  not_sent: 'not_sent',
} as const;

function reasonOf(reply: PaidFailure): string {
  switch (reply.class) {
    case 'rejected':
      return reply.reason;
    case 'refused_for_now':
      return `http_${reply.httpStatus}`;
    case 'unconfirmed':
    case 'not_sent':
      return reply.cause;
  }
}

/**
 * Wraps one tick in a `media.poll` span that counts its tasks by answer.
 * @param account name of the worker's account for this tick
 */
export function pollInSpan(
  account: string,
  input: PollVideosInput,
  poll: () => Promise<PollVideosResult>,
): Promise<PollVideosResult> {
  return withSpan({
    name: 'media.poll',
    attributes: () => ({
      'media.account': account,
      'media.tasks': input.byModel.reduce((sum, { ids }) => sum + ids.length, 0),
    }),
    work: poll,
    end: (result) => ({
      attributes: Object.fromEntries(
        [...pollsByAnswer(input, result)].map(([answer, tasks]) => [`media.answers.${answer}`, tasks]),
      ),
    }),
  });
}

type Downloaded =
  | { readonly video: { readonly artifact: { readonly bytes: number } } }
  | { readonly problem: { readonly kind: string; readonly httpStatus?: number } };

/**
 * Wraps one attempt to download a video in a `media.download` span.
 * @param attempt number of the activity attempt
 * @param state the download's state, read when the attempt has ended
 */
export function downloadInSpan<Result extends Downloaded>(
  { account, attempt }: { readonly account: string; readonly attempt: number },
  state: { readonly resumed?: boolean },
  download: () => Promise<Result>,
): Promise<Result> {
  return withSpan({
    name: 'media.download',
    attributes: () => ({ 'media.account': account, 'media.try': attempt }),
    work: download,
    end: (result) => {
      const resumed = { 'media.resumed': state.resumed === true };
      if ('video' in result) {
        const { bytes } = result.video.artifact;
        return { attributes: { 'media.outcome': 'downloaded', 'media.bytes': bytes, ...resumed } };
      }
      const { problem } = result;
      return {
        attributes: { 'media.outcome': problem.kind, ...statusOf(problem), ...resumed },
        error: problem.kind,
      };
    },
  });
}

function statusOf(reply: object): SpanAttributes {
  return 'httpStatus' in reply && typeof reply.httpStatus === 'number'
    ? { 'http.response.status_code': reply.httpStatus }
    : {};
}

/** A span's attributes. They never contain a prompt, a key, a signed URL or the service's text. */
export interface SpanAttributes {
  readonly [name: string]: string | number | boolean;
}

export interface SpanEnd {
  readonly attributes: SpanAttributes;
  /** The error's class, one of a small set. @default there was no error */
  readonly error?: string | undefined;
}

/** A span around a piece of work. Its functions are called only if spans are recorded. */
export interface TracedWork<T> {
  readonly name: string;
  readonly attributes: () => SpanAttributes;
  readonly work: () => Promise<T>;
  readonly end: (result: T) => SpanEnd;
}

/** An optional peer dependency. Without it, there are no spans. */
const api = installedApi();

function installedApi(): typeof Otel | undefined {
  // The `require` call must be inside the `try`, because only there do bundlers tolerate a missing package.
  try {
    return require('@opentelemetry/api') as typeof Otel;
  } catch (_error) {
    return undefined;
  }
}

/**
 * Does the work in a child span of the active one. Whatever the user's tracer does, the work runs exactly once and its
 * result or error is returned: a paid call must not fail, wait or repeat because of a span. An error's text is not
 * recorded, because it has not been sanitized here.
 */
export function withSpan<T>({ name, attributes, work, end }: TracedWork<T>): Promise<T> {
  const span =
    api && attempt(() => api.trace.getTracer('temporal-media').startSpan(name, { attributes: attributes() }));
  if (api === undefined || span === undefined) return work();
  let running: Promise<T> | undefined;
  const run = () => (running ??= (async () => work())());
  attempt(() => void api.context.with(api.trace.setSpan(api.context.active(), span), run));
  const result = run();
  // Ends the span before the caller continues, so that a parent ends after its children.
  result.then(
    (value) => finish(span, () => end(value)),
    () => finish(span, () => ({ attributes: {}, error: 'exception' })),
  );
  return result;
}

function finish(span: Otel.Span, end: () => SpanEnd): void {
  attempt(() => {
    const { attributes, error } = end();
    span.setAttributes(attributes);
    if (error === undefined) return;
    span.setAttribute('error.type', error);
    span.setStatus({ code: ERROR });
  });
  attempt(() => span.end());
}

/** `SpanStatusCode.ERROR` in the API. */
const ERROR: Otel.SpanStatusCode.ERROR = 2;

/** Ignores a tracer's errors. */
function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (_error) {
    return undefined;
  }
}
