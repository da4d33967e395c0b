import { type Dispatcher, errors } from 'undici';
import { type BodyLimits, type BoundedBody, ReplyBytes } from './reply-body';
import { type HeaderValues } from './retry-after';

/** A reply with the part of its body that arrived. */
export interface CollectedReply {
  readonly status: number;
  readonly headers: HeaderValues;
  readonly body: BoundedBody;
}

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
  readonly #kept: ReplyBytes;
  #timer: NodeJS.Timeout | undefined;
  #late = false;

  constructor(
    private readonly limits: BodyLimits,
    private readonly resolve: (reply: CollectedReply) => void,
    private readonly reject: (error: Error) => void,
  ) {
    this.#kept = new ReplyBytes(limits.maxBytes);
  }

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
    this.#timer = setTimeout(() => {
      this.#late = true;
      controller.abort(new errors.BodyTimeoutError());
    }, this.limits.withinMs);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#kept.add(chunk)) return;
    this.#settle('too_large');
    controller.abort(new errors.RequestAbortedError());
  }

  onResponseEnd(): void {
    this.#settle('complete');
  }

  onResponseError(_controller: unknown, error: Error): void {
    if (this.#status !== 0) this.#settle(this.#late ? 'too_late' : 'broken');
    else {
      this.onSettled();
      this.reject(error);
    }
  }

  /** The first end counts. */
  #settle(end: BoundedBody['end']): void {
    clearTimeout(this.#timer);
    this.onSettled();
    this.resolve({
      status: this.#status,
      headers: this.#headers,
      body: { bytes: this.#kept.whole(), end },
    });
  }
}
