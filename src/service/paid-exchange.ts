import { type Dispatcher, type FormData } from 'undici';
import { throwBug } from '../domain/bug';
import { networkCode, unsentCause, type UnsentCause } from './classify-reply';
import { type ConnectionFactory, PassingHandler } from './connections';
import { type BoundedBody, readBoundedBody } from './reply-body';
import { type HeaderValues } from './reply-headers';
import { countdown } from './time-left';

export interface PaidCall {
  readonly url: URL;
  readonly headers: { readonly [name: string]: string };
  readonly body: string | FormData;
  readonly maxReplyBytes: number;
  /** Time for the whole exchange, in milliseconds. */
  readonly budgetMs: number;
  readonly connectionFactory: ConnectionFactory;
  readonly onSend?: () => void;
}

/** The send marker alone distinguishes `not_sent` from `lost` (failure model: What a client can prove). */
export type PaidExchange =
  | ({ readonly kind: 'not_sent' } & UnsentCause)
  | {
      readonly kind: 'lost';
      readonly cause: 'timeout_after_send' | 'connection_lost_after_send' | 'reply_not_http';
    }
  | {
      readonly kind: 'reply';
      readonly status: number;
      readonly headers: HeaderValues;
      readonly body: BoundedBody;
    };

/**
 * Marks a send just before the first byte of the request can leave. Blocks the send if no time is `left` or after
 * `close`.
 */
class SendMarker {
  sent = false;
  /** Computed from the clocks, because timers fire late if the process was suspended while connecting (row 10). */
  tooLate = false;
  private closed = false;

  constructor(
    private readonly onSend: () => void,
    private readonly left: () => number,
  ) {}

  close(): void {
    this.closed = true;
  }

  readonly interceptor: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
    dispatch(options, new MarkingHandler(handler, (controller) => this.start(controller)));

  private start(controller: Dispatcher.DispatchController): boolean {
    this.tooLate = this.left() <= 0;
    if (this.closed || this.tooLate) {
      controller.abort(new Error("This call's time expired before it was sent."));
      return false;
    }
    this.sent = true;
    try {
      this.onSend();
    } catch (error) {
      throwBug(error);
      // An error in the callback must not interrupt the send.
    }
    return true;
  }
}

class MarkingHandler extends PassingHandler {
  constructor(
    inner: Dispatcher.DispatchHandler,
    private readonly start: (controller: Dispatcher.DispatchController) => boolean,
  ) {
    super(inner);
  }

  override onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    if (this.start(controller)) super.onRequestStart(controller, context);
  }
}

/**
 * Sends one request on its own connection and reads the reply within the time budget. Never retries, follows redirects
 * or accepts cancellation: after the send, only the reply or the time limit ends the exchange. Never throws.
 */
export async function exchangeOnce(call: PaidCall): Promise<PaidExchange> {
  const endsAt = performance.now() + call.budgetMs;
  if (!(call.budgetMs > 0)) return TOO_LATE;
  const marker = new SendMarker(() => call.onSend?.(), countdown(call.budgetMs));
  let dispatcher: Dispatcher;
  try {
    dispatcher = call.connectionFactory(new URL(call.url.origin), {
      purpose: 'paid',
      connections: 1,
      connectTimeoutMs: Math.min(call.budgetMs, 10_000),
      headersTimeoutMs: 0,
      bodyTimeoutMs: 0,
    }).dispatcher;
  } catch (error) {
    throwBug(error);
    const message = "This worker's proxy address is invalid. Check HTTPS_PROXY and HTTP_PROXY.";
    return { kind: 'not_sent', cause: 'proxy_misconfigured', permanent: true, message };
  }
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<'expired'>((resolve) => {
    timer = setTimeout(() => resolve('expired'), call.budgetMs);
  });
  try {
    const request = dispatcher.compose(marker.interceptor).request({
      origin: call.url.origin,
      path: `${call.url.pathname}${call.url.search}`,
      method: 'POST',
      headers: { ...call.headers },
      body: call.body,
    });
    // If the timer wins the race, destroying the client still rejects the request.
    request.catch(() => undefined);
    const reply = await Promise.race([request, expired]);
    if (reply === 'expired') return marker.sent ? { kind: 'lost', cause: 'timeout_after_send' } : TOO_LATE;
    const body = await readBoundedBody(reply.body, {
      maxBytes: call.maxReplyBytes,
      withinMs: Math.max(0, endsAt - performance.now()),
    });
    return { kind: 'reply', status: reply.statusCode, headers: reply.headers, body };
  } catch (error) {
    if (!marker.sent) return marker.tooLate ? TOO_LATE : { kind: 'not_sent', ...unsentCause(error) };
    const code = networkCode(error);
    const isParserError = error instanceof Error && error.name === 'HTTPParserError';
    const garbled = code.startsWith('HPE_') || GARBLED.has(code) || isParserError;
    return { kind: 'lost', cause: garbled ? 'reply_not_http' : 'connection_lost_after_send' };
  } finally {
    clearTimeout(timer);
    marker.close();
    dispatcher.destroy().catch(() => undefined);
  }
}

const TOO_LATE: PaidExchange = {
  kind: 'not_sent',
  cause: 'connect_timeout',
  permanent: false,
  message: "This call's time expired before it could be sent.",
};

/** Errors in a reply's head: it was too large, or its lengths contradict each other. */
const GARBLED: ReadonlySet<string> = new Set([
  'UND_ERR_HEADERS_OVERFLOW',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
]);
