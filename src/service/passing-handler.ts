import { type Dispatcher } from 'undici';

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
