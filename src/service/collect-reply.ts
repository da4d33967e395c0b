import { Readable } from 'node:stream';
import { type Dispatcher, errors } from 'undici';
import { type BodyLimits, type BoundedBody, readBoundedBody } from './reply-body';
import { type HeaderValues } from './retry-after';

/** A reply with the part of its body that arrived. */
export interface CollectedReply {
  readonly status: number;
  readonly headers: HeaderValues;
  readonly body: BoundedBody;
}

/** Bodies up to this size, in bytes, are collected in memory; the rest of a longer one is read as a stream. */
const SHORT = 64 * 1024;

/**
 * Sends a request and collects its reply without a stream: with thousands of short polls a second, a stream for each
 * reply would double the cost. Rejects when no reply begins; a failure inside the body is reported in `body.end`.
 */
export function collectReply(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  limits: BodyLimits,
  signal?: AbortSignal,
): Promise<CollectedReply> {
  return new Promise((resolve, reject) => {
    const handler = new CollectingHandler(limits, resolve, reject);
    if (signal === undefined) {
      dispatcher.dispatch(request, handler);
      return;
    }
    const abort = (): void => handler.abort();
    handler.onSettled = () => signal.removeEventListener('abort', abort);
    signal.addEventListener('abort', abort, { once: true });
    dispatcher.dispatch(request, handler);
  });
}

class CollectingHandler implements Dispatcher.DispatchHandler {
  onSettled: () => void = () => undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #aborted = false;
  #status = 0;
  #headers: HeaderValues = {};
  #chunks: Buffer[] = [];
  #size = 0;
  #endsAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #late = false;
  #long: Readable | undefined;

  constructor(
    private readonly limits: BodyLimits,
    private readonly resolve: (reply: CollectedReply) => void,
    private readonly reject: (error: Error) => void,
  ) {}

  abort(): void {
    this.#aborted = true;
    this.#controller?.abort(new errors.RequestAbortedError());
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#aborted) this.abort();
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: HeaderValues): void {
    // An interim reply.
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    this.#endsAt = performance.now() + this.limits.withinMs;
    this.#timer = setTimeout(() => {
      this.#late = true;
      controller.abort(new errors.BodyTimeoutError());
    }, this.limits.withinMs);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#long !== undefined) {
      if (!this.#long.push(chunk)) controller.pause();
      return;
    }
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size > Math.min(SHORT, this.limits.maxBytes)) this.#readOn(controller);
  }

  onResponseEnd(): void {
    if (this.#long === undefined) this.#settle('complete');
    else this.#long.push(null);
  }

  onResponseError(_controller: unknown, error: Error): void {
    if (this.#long !== undefined) this.#long.destroy(error);
    else if (this.#status !== 0) this.#settle(this.#late ? 'too_late' : 'broken');
    else {
      this.onSettled();
      this.reject(error);
    }
  }

  #settle(end: BoundedBody['end']): void {
    clearTimeout(this.#timer);
    this.onSettled();
    const [only] = this.#chunks;
    const bytes = only !== undefined && this.#chunks.length === 1 ? only : Buffer.concat(this.#chunks);
    this.resolve({ status: this.#status, headers: this.#headers, body: { bytes, end } });
  }

  /** Reads the rest as a stream, which pauses the socket while bytes are written to disk. */
  #readOn(controller: Dispatcher.DispatchController): void {
    clearTimeout(this.#timer);
    const long = new Readable({
      read: () => controller.resume(),
      destroy: (error, done) => {
        // Has no effect after the body is complete.
        controller.abort(error ?? new errors.RequestAbortedError());
        done(error);
      },
    });
    this.#long = long;
    for (const chunk of this.#chunks) long.push(chunk);
    this.#chunks = [];
    const withinMs = Math.max(0, this.#endsAt - performance.now());
    readBoundedBody(long, { ...this.limits, withinMs })
      .finally(() => this.onSettled())
      .then(
        (body) => this.resolve({ status: this.#status, headers: this.#headers, body }),
        (error: Error) => this.reject(error),
      );
  }
}
