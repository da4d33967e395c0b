import { type VideoProgressEvent } from '../../packages/progress/src';

/** One event as it came over the wire. */
export interface ReadEvent {
  readonly id: string;
  readonly data: VideoProgressEvent;
}

/** A response that is read event by event, as a browser does. */
export interface EventReader {
  readonly status: number;
  readonly headers: Headers;
  /** Everything that came so far. */
  text(): string;
  /** The next event; undefined at the end of the stream. */
  next(): Promise<ReadEvent | undefined>;
  /** Reads until the text contains this. */
  until(text: string): Promise<void>;
  /** Reads to the end. */
  rest(): Promise<readonly ReadEvent[]>;
  /** Closes the connection. */
  leave(): void;
}

/** Connects as a browser does that has received this event last. */
export async function readEvents(url: string, lastId?: string, user = 'ann'): Promise<EventReader> {
  const abort = new AbortController();
  const headers = { 'x-user': user, ...(lastId !== undefined && { 'last-event-id': lastId }) };
  const response = await fetch(url, { headers, signal: abort.signal });
  return eventsOf(response, () => abort.abort());
}

export function eventsOf(response: Response, leave: () => void): EventReader {
  const bytes = response.body?.getReader();
  const decoder = new TextDecoder();
  let [all, left] = ['', ''];
  const more = async (): Promise<boolean> => {
    const { done = true, value } = (await bytes?.read()) ?? {};
    const text = decoder.decode(value, { stream: true });
    all += text;
    left += text;
    return !done;
  };
  const next = async (): Promise<ReadEvent | undefined> => {
    for (;;) {
      const end = left.indexOf('\n\n');
      if (end < 0) {
        if (!(await more())) return undefined;
        continue;
      }
      const lines = left.slice(0, end).split('\n');
      left = left.slice(end + 2);
      const field = (name: string) =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      const data = field('data');
      if (data !== undefined) return { id: field('id') ?? '', data: JSON.parse(data) as VideoProgressEvent };
    }
  };
  return {
    status: response.status,
    headers: response.headers,
    text: () => all,
    next,
    until: async (text) => {
      while (!all.includes(text)) if (!(await more())) throw new Error(`The stream ended without ${text}`);
    },
    rest: async () => {
      const events: ReadEvent[] = [];
      for (let event = await next(); event !== undefined; event = await next()) events.push(event);
      return events;
    },
    leave,
  };
}
