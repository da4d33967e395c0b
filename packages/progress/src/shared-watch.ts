import { createHash } from 'node:crypto';
import { type VideoState } from 'temporal-media';
import { type TemporalMediaClient } from 'temporal-media/client';
import { phaseOf, statusValue } from 'temporal-media/internal/service/video-record';

/**
 * The data of an event: a video's whole public state, never a difference from the previous one. Contains only words from
 * fixed lists and a number, so that no prompt, key or URL can reach a browser, whatever the service sends.
 */
export interface VideoProgressEvent {
  /** As in `VideoState`; null if no workflow has the ID, or if it closed before it answered a query. */
  readonly phase: VideoState['phase'] | null;
  /** How the video ended, such as `completed`; null before that, and for a workflow that was closed without an outcome. */
  readonly outcome: string | null;
  /** The service's last status, in one of four words; null before the first one and if the service's word is unknown. */
  readonly status: 'queued' | 'in_progress' | 'completed' | 'failed' | null;
  /** The service's last number, usually a percentage; null if it sends none. */
  readonly progress: number | null;
  /** Whether this is the last event, after which the server closes the stream. */
  readonly ended: boolean;
}

/** An event as it is sent. */
export interface ServerSentEvent {
  /** Identifies the content, so that any process can compare it with a `Last-Event-ID`. */
  readonly id: string;
  /** All lines of the event. */
  readonly text: string;
}

/** Ends the id of a last event. */
const END = '.end';

/** Whether a client has received a stream's last event, according to its `Last-Event-ID`. */
export function isEndId(id: string): boolean {
  return id.endsWith(END);
}

const NOTHING: VideoProgressEvent = {
  phase: null,
  outcome: null,
  status: null,
  progress: null,
  ended: false,
};

function publicFacts({ phase, outcome, watch }: VideoState): VideoProgressEvent {
  const status = phaseOf(statusValue(watch?.lastStatus ?? ''));
  const progress = watch?.progress;
  return {
    phase,
    outcome,
    status: status === 'unknown' ? null : status,
    progress: typeof progress === 'number' ? progress : null,
    ended: phase === 'done',
  };
}

function sentEvent(event: VideoProgressEvent): ServerSentEvent {
  const data = JSON.stringify(event);
  const digest = createHash('sha256').update(data).digest('base64url').slice(0, 16);
  const id = event.ended ? `${digest}${END}` : digest;
  return { id, text: `id: ${id}\ndata: ${data}\n\n` };
}

/** One connected client. No method may throw. */
export interface WatchReader {
  /** Takes the newest state, which replaces one that has not been sent yet. */
  next(event: ServerSentEvent): void;
  /** Keeps a quiet connection open. */
  beat(): void;
  /** No more events follow. */
  end(): void;
}

interface OpenWatch {
  readonly readers: Set<WatchReader>;
  readonly stop: AbortController;
  newest: ServerSentEvent | undefined;
}

/** What all watches of a process share. */
export interface SharedWatchOptions {
  /** Reads the states by queries, which add no events to a history. */
  readonly media: Pick<TemporalMediaClient, 'watch'>;
  /** Milliseconds between queries. */
  readonly intervalMs: number;
  /** Milliseconds between heartbeats. */
  readonly heartbeatMs: number;
  /** Called if a watch failed. */
  readonly onError: (error: unknown) => void;
}

/** Runs one query loop for all readers of a video. It starts with the first reader and stops with the last. */
export class SharedWatches {
  private readonly open = new Map<string, OpenWatch>();

  constructor(private readonly options: SharedWatchOptions) {}

  /** Adds a reader, which gets the newest state now if there is one. Returns a function that removes it again. */
  join(workflowId: string, reader: WatchReader): () => void {
    const watch = this.open.get(workflowId) ?? this.begin(workflowId);
    watch.readers.add(reader);
    if (watch.newest !== undefined) reader.next(watch.newest);
    return () => {
      watch.readers.delete(reader);
      if (watch.readers.size > 0) return;
      // A query may still be in flight, so a reader that comes now gets a new loop.
      watch.stop.abort();
      this.forget(workflowId, watch);
    };
  }

  private begin(workflowId: string): OpenWatch {
    const watch: OpenWatch = { readers: new Set(), stop: new AbortController(), newest: undefined };
    this.open.set(workflowId, watch);
    const beat = (): void => watch.readers.forEach((reader) => reader.beat());
    // The connections keep the process running, not their heartbeats.
    const timer = setInterval(beat, this.options.heartbeatMs).unref();
    void this.run(workflowId, watch)
      .catch((error: unknown) => this.options.onError(error))
      .finally(() => {
        clearInterval(timer);
        this.forget(workflowId, watch);
        for (const reader of watch.readers) reader.end();
      })
      // An exception in `onError` must not end the process of the host.
      .catch(() => undefined);
    return watch;
  }

  private forget(workflowId: string, watch: OpenWatch): void {
    if (this.open.get(workflowId) === watch) this.open.delete(workflowId);
  }

  private async run(workflowId: string, watch: OpenWatch): Promise<void> {
    const { media, intervalMs } = this.options;
    const { signal } = watch.stop;
    let last = NOTHING;
    for await (const state of media.watch(workflowId, { intervalMs, signal })) {
      last = publicFacts(state);
      send(watch, sentEvent(last));
    }
    if (!signal.aborted && !last.ended) send(watch, sentEvent({ ...last, ended: true }));
  }
}

/** Sends a state that differs in public from the one before. */
function send(watch: OpenWatch, event: ServerSentEvent): void {
  if (event.id === watch.newest?.id) return;
  watch.newest = event;
  for (const reader of watch.readers) reader.next(event);
}
