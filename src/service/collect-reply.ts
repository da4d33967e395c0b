import { Readable } from 'node:stream';
import { type Dispatcher, errors } from 'undici';
import { type BodyLimits, type BoundedBody, readBoundedBody } from './reply-body';
import { type HeaderValues } from './retry-after';

/** A reply with its body, as far as it came. */
export interface CollectedReply {
  readonly status: number;
  readonly headers: HeaderValues;
  readonly body: BoundedBody;
}

export interface CollectLimits extends BodyLimits {
  /** Within which a reply begins, however many interim replies (1xx) come before it; in milliseconds. */
  readonly headersWithinMs: number;
}

/** A body that is no longer than this is collected as it comes; a longer one is read with care for memory. */
const SHORT = 64 * 1024;

/**
 * Sends a request and collects its reply without a stream: thousands of polls a second are short, and the stream of each
 * costs as much as the rest of it. Rejects when no reply begins; what happens to a body is told with it.
 */
export function collectReply(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  limits: CollectLimits,
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
  #startedAt = 0;
  #status = 0;
  #headers: HeaderValues = {};
  #chunks: Buffer[] = [];
  #size = 0;
  #endsAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #late = false;
  #long: Readable | undefined;

  constructor(
    private readonly limits: CollectLimits,
    private readonly resolve: (reply: CollectedReply) => void,
    private readonly reject: (error: Error) => void,
  ) {}

  abort(): void {
    this.#aborted = true;
    this.#controller?.abort(new errors.RequestAbortedError());
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Only now: the wait for a free socket is not the service's.
    this.#startedAt = performance.now();
    if (this.#aborted) this.abort();
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: HeaderValues): void {
    if (status < 200) {
      // Each of them starts undici's own timer anew: a service that drips them would hold a GET for ever.
      if (performance.now() - this.#startedAt > this.limits.headersWithinMs)
        controller.abort(new errors.HeadersTimeoutError());
      return;
    }
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

  /** From here on as a stream, which stops the socket while its bytes go to the disk. */
  #readOn(controller: Dispatcher.DispatchController): void {
    clearTimeout(this.#timer);
    const long = new Readable({
      read: () => controller.resume(),
      destroy: (error, done) => {
        // Of a body that came whole nothing is left to abort.
        controller.abort(error ?? new errors.RequestAbortedError());
        done(error);
      },
    });
    this.#long = long;
    for (const chunk of this.#chunks) long.push(chunk);
    this.#chunks = [];
    const withinMs = Math.max(0, this.#endsAt - performance.now());
    void readBoundedBody(long, { ...this.limits, withinMs }).then((body) => {
      this.onSettled();
      this.resolve({ status: this.#status, headers: this.#headers, body });
    });
  }
}
