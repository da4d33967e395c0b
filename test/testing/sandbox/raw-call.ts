import { request, type IncomingHttpHeaders } from 'node:http';

/** What came back over a plain socket: also half replies, which a comfortable client would hide. */
export interface RawReply {
  status: number | undefined;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** False when the connection ended before Content-Length was reached. */
  complete: boolean;
  /** Code of the error that ended the exchange. */
  error: string | undefined;
}

export interface RawCall {
  method?: string;
  key?: string | null;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

/** One HTTP request with node:http on a connection of its own; never rejects. */
export function rawCall(url: string, { method = 'GET', key = 'sandbox-key', headers, body }: RawCall = {}) {
  return new Promise<RawReply>((resolve) => {
    const result: RawReply = {
      status: undefined,
      headers: {},
      body: Buffer.alloc(0),
      complete: false,
      error: undefined,
    };
    const auth = key === null ? {} : { authorization: `Bearer ${key}` };
    const sent = request(url, { method, agent: false, headers: { ...auth, ...headers } }, (reply) => {
      result.status = reply.statusCode;
      result.headers = reply.headers;
      const chunks: Buffer[] = [];
      reply.on('data', (chunk: Buffer) => chunks.push(chunk));
      reply.on('error', (error: NodeJS.ErrnoException) => (result.error ??= error.code));
      reply.on('close', () => resolve({ ...result, body: Buffer.concat(chunks), complete: reply.complete }));
    });
    sent.on('error', (error: NodeJS.ErrnoException) => {
      result.error = error.code;
      // Once a reply has started, its own close event settles the call with what was read.
      if (result.status === undefined) resolve(result);
    });
    sent.end(body);
  });
}

/** A POST with a JSON body. */
export function postJson(url: string, value: unknown, call: RawCall = {}): Promise<RawReply> {
  const headers = { 'content-type': 'application/json', ...call.headers };
  return rawCall(url, { method: 'POST', ...call, headers, body: JSON.stringify(value) });
}

/** The body as JSON. */
export function jsonOf<Result = Record<string, unknown>>(reply: RawReply): Result {
  return JSON.parse(reply.body.toString()) as Result;
}
