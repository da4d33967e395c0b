import { type Dispatcher, errors } from 'undici';
import { contentLength } from './content-headers';
import { networkCode } from './network-error';
import { type HeaderValues } from './retry-after';

/** Forwards every event. undici's own decorator fails at a second response start, such as one after a 103. */
export class PassingHandler implements Dispatcher.DispatchHandler {
  constructor(protected readonly inner: Dispatcher.DispatchHandler) {}

  onRequestStart(...event: Parameters<Required<Dispatcher.DispatchHandler>['onRequestStart']>): void {
    this.inner.onRequestStart?.(...event);
  }

  onRequestUpgrade(...event: Parameters<Required<Dispatcher.DispatchHandler>['onRequestUpgrade']>): void {
    this.inner.onRequestUpgrade?.(...event);
  }

  onResponseStart(...event: Parameters<Required<Dispatcher.DispatchHandler>['onResponseStart']>): void {
    this.inner.onResponseStart?.(...event);
  }

  onResponseData(...event: Parameters<Required<Dispatcher.DispatchHandler>['onResponseData']>): void {
    this.inner.onResponseData?.(...event);
  }

  onResponseEnd(...event: Parameters<Required<Dispatcher.DispatchHandler>['onResponseEnd']>): void {
    this.inner.onResponseEnd?.(...event);
  }

  onResponseError(...event: Parameters<Required<Dispatcher.DispatchHandler>['onResponseError']>): void {
    this.inner.onResponseError?.(...event);
  }
}

/**
 * Completes a reply whose body has arrived in full. When a reader is slower than its socket, undici pauses at the last
 * byte and reports a connection that closes after it as lost (7.30, unless the reply announces the close): a video
 * would be downloaded again, and paid images would be lost. Decided by Content-Length alone (RFC 9112, 6.3).
 */
export const wholeReply: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
  dispatch(options, new WholeReplyHandler(handler));

/** Codes of a close by the other side, not by this client. */
const CLOSED: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET']);

class WholeReplyHandler extends PassingHandler {
  /** Bytes of the body that have not arrived. */
  #left = Infinity;

  override onResponseStart(...event: Parameters<PassingHandler['onResponseStart']>): void {
    const [, statusCode, headers] = event;
    // An interim reply has no body, whatever its headers.
    this.#left = statusCode < 200 ? Infinity : lengthOf(headers);
    super.onResponseStart(...event);
  }

  override onResponseData(...event: Parameters<PassingHandler['onResponseData']>): void {
    this.#left -= event[1].length;
    super.onResponseData(...event);
  }

  override onResponseError(...event: Parameters<PassingHandler['onResponseError']>): void {
    const [controller, error] = event;
    if (this.#left === 0 && CLOSED.has(networkCode(error))) super.onResponseEnd(controller, {});
    else super.onResponseError(...event);
  }
}

/** Infinity without Content-Length, or with a transfer coding, which overrides it. */
function lengthOf(headers: HeaderValues): number {
  return headers['transfer-encoding'] === undefined ? (contentLength(headers) ?? Infinity) : Infinity;
}

/**
 * Ends a request that gets interim replies (1xx) but no reply: each interim reply restarts undici's timer, so that a
 * slow sequence of them could keep a GET open indefinitely. undici's timer still ends the wait after the last one, so
 * that a request waits for at most twice its limit. Needs no timer.
 * @param headersTimeoutMs for requests without their own `headersTimeout`
 */
export function interimLimit(headersTimeoutMs: number): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) =>
    dispatch(options, new InterimLimitHandler(handler, options.headersTimeout ?? headersTimeoutMs));
}

class InterimLimitHandler extends PassingHandler {
  #startedAt = performance.now();

  constructor(
    inner: Dispatcher.DispatchHandler,
    private readonly limitMs: number,
  ) {
    super(inner);
  }

  override onRequestStart(...event: Parameters<PassingHandler['onRequestStart']>): void {
    // Excludes the wait for a free socket.
    this.#startedAt = performance.now();
    super.onRequestStart(...event);
  }

  override onResponseStart(...event: Parameters<PassingHandler['onResponseStart']>): void {
    const [controller, statusCode] = event;
    if (statusCode < 200 && performance.now() - this.#startedAt > this.limitMs)
      controller.abort(new errors.HeadersTimeoutError());
    else super.onResponseStart(...event);
  }
}
