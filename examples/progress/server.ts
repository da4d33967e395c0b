// Shows a film's progress on a page that survives reloads, lost connections and restarts of this server.
// npm install @temporal-media/progress. Any framework works; this file needs only Node.
import { readFile } from 'node:fs/promises';
import { type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ReadableStream } from 'node:stream/web';
import { progressEvents, type ProgressEventsOptions } from '@temporal-media/progress';

export interface FilmPagesOptions extends Omit<ProgressEventsOptions, 'idOf'> {
  /** Your session check. Returns the signed-in user. */
  readonly userOf: (request: Request) => string | undefined;
}

/** The id with which you start the film of a user's order. Encoded, so that two users never have the same id. */
export function filmId(user: string, order: string): string {
  return `film/${encodeURIComponent(user)}/${encodeURIComponent(order)}`;
}

/** Serves the page `/films/ORDER` and its events, `/films/ORDER/events`, to the user of the order. */
export function filmPages({ userOf, ...options }: FilmPagesOptions): RequestListener {
  // Once per process: all readers of a film share its queries.
  const events = progressEvents({
    ...options,
    // The user comes from the session, and the URL names only the order, so nobody can name another user's film.
    idOf: (request) => {
      const user = userOf(request);
      if (user === undefined) return new Response(null, { status: 401 });
      const order = /^\/films\/([^/]+)\/events$/.exec(new URL(request.url).pathname)?.[1];
      return order === undefined ? undefined : filmId(user, decodeURIComponent(order));
    },
  });
  const page = readFile(join(__dirname, 'page.html'));
  return (incoming, outgoing) => {
    const answer = async (): Promise<void> => {
      const request = requestOf(incoming);
      const isPage = /^\/films\/[^/]+$/.test(new URL(request.url).pathname);
      await send(isPage ? new Response(await page, { headers: PAGE }) : await events(request), outgoing);
    };
    answer().catch(() => (outgoing.headersSent ? outgoing.destroy() : outgoing.writeHead(400).end()));
  };
}

const PAGE = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:",
};

function requestOf({ url = '/', method = 'GET', headers }: IncomingMessage): Request {
  const fields = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
  return new Request(new URL(url, 'http://localhost'), { method, headers: fields });
}

async function send(response: Response, outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) outgoing.end();
  // Cancels the body when the browser has left, which ends the queries after the last reader.
  else await pipeline(Readable.fromWeb(response.body as ReadableStream), outgoing);
}
