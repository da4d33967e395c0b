import { type Dispatcher, errors } from 'undici';
import { contentLength } from './content-headers';
import { networkCode } from './network-error';
import { type HeaderValues } from './retry-after';

/** Passes every event on. undici's own decorator fails at a second response start, and 103 is one. */
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
 * A reply that came whole stays whole. Where a reader is slower than its socket, undici pauses at the last byte, and then
 * takes a connection that is closed behind it for one that was lost (7.30, unless the reply said that it closes): a video
 * would be loaded again, and images that are paid for would be gone. Told by Content-Length alone (RFC 9112, 6.3).
 */
export const wholeReply: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
  dispatch(options, new WholeReplyHandler(handler));

/** The other side hung up; not what we end ourselves. */
const CLOSED: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET']);

class WholeReplyHandler extends PassingHandler {
  /** Bytes of the body that are still to come. */
  #left = Infinity;

  override onResponseStart(...event: Parameters<PassingHandler['onResponseStart']>): void {
    const [, statusCode, headers] = event;
    // An interim reply has no body, whatever it says.
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

/** Infinity when the length is not said, or not meant: a transfer coding ends by itself. */
function lengthOf(headers: HeaderValues): number {
  return headers['transfer-encoding'] === undefined ? (contentLength(headers) ?? Infinity) : Infinity;
}

/**
 * Ends a request whose reply does not begin although interim replies (1xx) do come: each of them starts undici's own
 * timer anew, so that a service that drips them would hold a GET for ever. A silence after the last one is still
 * undici's to end, so that a request waits for at most twice its limit. Costs no timer.
 * @param headersTimeoutMs for requests that name no `headersTimeout` of their own
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
    // Only now: the wait for a free socket is not the service's.
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
