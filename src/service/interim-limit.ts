import { type Dispatcher, errors } from 'undici';
import { PassingHandler } from './passing-handler';

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
