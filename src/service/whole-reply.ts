import { type Dispatcher } from 'undici';
import { contentLength } from './content-headers';
import { networkCode } from './network-error';
import { PassingHandler } from './passing-handler';
import { type HeaderValues } from './retry-after';

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
