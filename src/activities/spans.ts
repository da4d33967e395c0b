import type * as Otel from '@opentelemetry/api';

/** Values of a span: never a prompt, a key, an address or a text of the service. */
export interface SpanAttributes {
  readonly [name: string]: string | number | boolean;
}

export interface SpanEnd {
  readonly attributes: SpanAttributes;
  /** Class of the error, which is one of few. @default there was none */
  readonly error?: string | undefined;
}

/** A span around a piece of work. Its functions are called only where spans are made. */
export interface TracedWork<T> {
  readonly name: string;
  readonly attributes: () => SpanAttributes;
  readonly work: () => Promise<T>;
  readonly end: (result: T) => SpanEnd;
}

/** An optional peer: where it is not installed, there are no spans. */
const api = installedApi();

function installedApi(): typeof Otel | undefined {
  // The call itself stands in the `try`: bundlers leave out what is missing there.
  try {
    return require('@opentelemetry/api') as typeof Otel;
  } catch (_error) {
    return undefined;
  }
}

/**
 * Does the work in a span that is a child of the active one. The work is done exactly once, and its result or error is
 * returned, whatever the tracer of the user does: a paid call must not fail, wait or happen twice for a span. Of an error
 * nothing but the fact is kept, because its text has not been cleaned here.
 */
export function withSpan<T>({ name, attributes, work, end }: TracedWork<T>): Promise<T> {
  const span =
    api && attempt(() => api.trace.getTracer('temporal-media').startSpan(name, { attributes: attributes() }));
  if (api === undefined || span === undefined) return work();
  let running: Promise<T> | undefined;
  const run = () => (running ??= (async () => work())());
  attempt(() => void api.context.with(api.trace.setSpan(api.context.active(), span), run));
  const result = run();
  // Before the caller continues: a parent ends after its children.
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

/** `SpanStatusCode.ERROR` of the API. */
const ERROR: Otel.SpanStatusCode.ERROR = 2;

/** A tracer that fails disturbs nothing. */
function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (_error) {
    return undefined;
  }
}
