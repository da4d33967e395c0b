import { type TemporalMediaClient } from 'temporal-media/client';
import { isEndId, type ServerSentEvent, SharedWatches, type WatchReader } from './shared-watch';

/** Options of {@link progressEvents}. */
export interface ProgressEventsOptions {
  /** Reads the states. Its Temporal client is the only credential; browsers never get one. */
  readonly media: Pick<TemporalMediaClient, 'watch'>;
  /**
   * Authorizes a request and returns the workflow ID of the video that it may see. Returns undefined for 404, or a
   * `Response` such as a 401, which is sent as it is. If it throws, the handler rejects.
   *
   * The client sees the video whose ID is returned, so build the ID from the session's user (`film/USER/ORDER`), or look
   * it up in your database. Never return a workflow ID from the URL unchecked: IDs are not secret, and another tenant's
   * may be easy to guess.
   */
  readonly idOf: (
    request: Request,
  ) => string | Response | undefined | PromiseLike<string | Response | undefined>;
  /** Milliseconds between the queries for one video, for all of its readers together; 100 to 3600000. @default 1500 */
  readonly intervalMs?: number;
  /**
   * Milliseconds between comments that keep a quiet connection open and reveal a closed one; 100 to 3600000.
   * @default 15000
   */
  readonly heartbeatMs?: number;
  /** Milliseconds that a browser waits before it reconnects; 100 to 3600000. @default 3000 */
  readonly retryMs?: number;
  /** Called if a watch fails; its readers are disconnected, and reconnect. @default ignored */
  readonly onError?: (error: unknown) => void;
}

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  // nginx would keep events until its buffer is full.
  'x-accel-buffering': 'no',
};

/**
 * Returns a request handler that sends a video's states as server-sent events ({@link VideoProgressEvent}), for
 * frameworks with standard requests and responses. Create it once: all readers of a video share one query loop, which
 * ends with the last of them.
 *
 * A client that reconnects with `Last-Event-ID` gets the newest state if that is a different one, from any process. A
 * slow client misses states, but always gets the newest. After the last event, the stream is closed, and a reconnect
 * gets 204, which ends an `EventSource`.
 * @throws RangeError if an option is out of range
 */
export function progressEvents(options: ProgressEventsOptions): (request: Request) => Promise<Response> {
  const { media, idOf, onError = () => undefined } = options;
  const [intervalMs, heartbeatMs, retryMs] = [
    inRange('intervalMs', options.intervalMs ?? 1_500),
    inRange('heartbeatMs', options.heartbeatMs ?? 15_000),
    inRange('retryMs', options.retryMs ?? 3_000),
  ];
  const watches = new SharedWatches({ media, intervalMs, heartbeatMs, onError });
  return async (request) => {
    if (request.method !== 'GET') return empty(405, { allow: 'GET' });
    const found = await idOf(request);
    // Not `instanceof`: a framework may have its own class.
    if (typeof found === 'object' && found !== null) return found;
    if (typeof found !== 'string' || found === '') return empty(404);
    const lastId = request.headers.get('last-event-id') ?? '';
    if (isEndId(lastId)) return empty(204);
    const reader = new StreamReader((own) => watches.join(found, own), { retryMs, lastId });
    // A server that has no other way to report a closed connection aborts the request.
    request.signal.addEventListener('abort', () => reader.end(), { once: true });
    return new Response(reader.stream, { headers: HEADERS });
  };
}

function empty(status: number, headers: Record<string, string> = {}): Response {
  return new Response(null, { status, headers: { 'cache-control': 'no-store', ...headers } });
}

/** Longer times would make a timer fire at once. */
const MAX_MS = 3_600_000;

function inRange(field: string, value: number): number {
  if (Number.isFinite(value) && value >= 100 && value <= MAX_MS) return value;
  throw new RangeError(`${field} must be a number of milliseconds from 100 to ${MAX_MS}.`);
}

const encoder = new TextEncoder();
const HEARTBEAT = ':\n\n';

/**
 * A client's stream. Between two reads it keeps only the newest unsent event, so a client that does not read needs no
 * memory for the events that it misses.
 */
class StreamReader implements WatchReader {
  readonly stream: ReadableStream<Uint8Array>;
  private lines: string;
  private event = '';
  private lastId: string;
  private ended = false;
  private cancelled = false;
  private leave: (() => void) | undefined;
  private wake: () => void = () => undefined;

  constructor(
    private readonly join: (reader: WatchReader) => () => void,
    { retryMs, lastId }: { readonly retryMs: number; readonly lastId: string },
  ) {
    // Sent at once, so that the response's headers are too.
    this.lines = `retry: ${Math.round(retryMs)}\n\n`;
    this.lastId = lastId;
    const source = {
      pull: (controller: ReadableStreamDefaultController<Uint8Array>) => this.pull(controller),
      cancel: () => {
        this.cancelled = true;
        this.end();
      },
    };
    // Without a queue, `pull` is called only when the client can take more.
    this.stream = new ReadableStream(source, { highWaterMark: 0 });
  }

  next({ id, text }: ServerSentEvent): void {
    if (id === this.lastId) return;
    this.lastId = id;
    this.event = text;
    this.wake();
  }

  beat(): void {
    if (this.lines === '' && this.event === '') this.lines = HEARTBEAT;
    this.wake();
  }

  end(): void {
    this.ended = true;
    this.leave?.();
    this.wake();
  }

  private async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    // Joins with the first read, because nobody would ever report the end of a stream that nobody reads.
    if (!this.ended) this.leave ??= this.join(this);
    while (this.lines === '' && this.event === '' && !this.ended)
      await new Promise<void>((resolve) => (this.wake = resolve));
    // A canceled stream is closed already.
    if (this.cancelled) return;
    const text = `${this.lines}${this.event}`;
    [this.lines, this.event] = ['', ''];
    if (text === '') controller.close();
    else controller.enqueue(encoder.encode(text));
  }
}
