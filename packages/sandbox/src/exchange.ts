import { createHash } from 'node:crypto';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { compatCreate, formFields } from './compat';
import { countReceived } from './counters';
import { type FaultAction, type SandboxOperation } from './faults';
import { isJsonObject, type JsonObject } from './json-value';
import { dialectOf } from './options';
import { sendReply } from './perform-fault';
import { errorReply, inErrorShape, type SandboxReply } from './reply';
import {
  type SandboxFinish,
  type SandboxPart,
  type SandboxRequest,
  hexDigest,
  shortened,
} from './request-log';
import { type SandboxCore } from './sandbox-core';

/** The exchanges of all requests in progress, in all sandboxes of this process. */
const exchanges = new WeakMap<FastifyRequest['raw'], Exchange>();

/** One request and its reply. Writes the request's log entry and updates the counters. */
export class Exchange {
  readonly entry: SandboxRequest;
  body: Buffer = Buffer.alloc(0);
  /** The request's model, once known. It selects the dialect in `compat` mode. */
  model = '';

  constructor(
    readonly core: SandboxCore,
    readonly request: FastifyRequest,
    readonly reply: FastifyReply,
    origin: 'api' | 'media',
    operation: SandboxOperation,
  ) {
    this.entry = core.log.begin(request.raw, origin, operation);
    this.entry.authorization = this.authorization();
    countReceived(core.counters, operation);
    reply.raw.once('close', () => this.close());
  }

  get query(): URLSearchParams {
    return new URL(this.request.raw.url ?? '/', 'http://sandbox').searchParams;
  }

  /** Stores the body that fastify has read. */
  takeBody(body: Buffer): void {
    this.body = body;
    this.entry.bodyBytes = body.length;
    this.entry.bodySha256 = hexDigest(body);
  }

  /** Returns the body as a JSON object, or undefined if it is not one. */
  json(): JsonObject | undefined {
    try {
      const value: unknown = JSON.parse(this.body.toString('utf8'));
      this.entry.json = shortened(value);
      return isJsonObject(value) ? value : undefined;
    } catch {
      return undefined;
    }
  }

  /** Counts the reply and sends it. Applies a transport fault. */
  async send(reply: SandboxReply, fault?: FaultAction): Promise<void> {
    const counter = this.core.counters.operations[this.entry.operation];
    const paid = ['create', 'generate', 'edit'].includes(this.entry.operation);
    if (reply.status >= 400) counter.rejected += this.entry.accepted ? 0 : 1;
    else if (!paid) counter.accepted += 1;
    const { mode } = this.core.options;
    const said = mode === 'compat' ? inErrorShape(reply, dialectOf(this.model).errors) : reply;
    await sendReply(this, said, fault);
    this.core.touch();
  }

  /** Records how the request ended; only the first call counts. */
  finish(how: SandboxFinish): void {
    this.entry.finished ??= how;
  }

  private close(): void {
    this.finish(this.reply.raw.writableFinished ? 'sent' : 'client_gone');
    this.core.log.end(this.entry);
    if (!this.core.options.log) return;
    const { seq, operation, status, accepted, finished, violations } = this.entry;
    process.stderr.write(`${JSON.stringify({ seq, operation, status, accepted, finished, violations })}\n`);
  }

  private authorization(): SandboxRequest['authorization'] {
    const header = this.request.headers.authorization;
    if (header === undefined) return 'none';
    const key = /^Bearer (.+)$/.exec(header)?.[1] ?? '';
    if (this.core.options.apiKeys.includes(key)) return 'valid';
    return this.core.options.forbiddenKeys.includes(key) ? 'forbidden' : 'invalid';
  }
}

/**
 * Creates a log entry for every request to an origin, including unknown paths, before the body is read. Leaves bodies
 * unparsed. Routes with `silent` in their config (the admin routes) are not logged.
 */
export function openExchanges(app: FastifyInstance, core: SandboxCore, origin: 'api' | 'media'): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

  app.addHook('onRequest', async (request, reply) => {
    const config = request.routeOptions.config as { operation?: SandboxOperation; silent?: boolean };
    if (config.silent === true) return;
    const exchange = new Exchange(core, request, reply, origin, config.operation ?? 'unknown');
    exchanges.set(request.raw, exchange);
    if (!core.faults.takeEarlyReset(exchange.entry.operation)) return;
    exchange.finish('reset');
    reply.hijack();
    request.raw.socket.resetAndDestroy();
  });

  app.setNotFoundHandler(async (request, reply) => {
    const exchange = exchanges.get(request.raw);
    reply.hijack();
    exchange?.entry.violations.push('no such path or method');
    await exchange?.send(errorReply(404, 'No such path.', { code: 'unknown_path' }));
  });

  app.setErrorHandler(async (error, request, reply) => {
    const exchange = exchanges.get(request.raw);
    const status = (error as { statusCode?: number }).statusCode ?? 500;
    reply.hijack();
    const message = error instanceof Error ? error.message : 'The request could not be read.';
    exchange?.entry.violations.push(message);
    if (exchange !== undefined) await exchange.send(errorReply(status, message));
    else reply.raw.writeHead(status).end();
  });
}

/** The method, the path below the prefix, and the operation that requests are logged as. */
interface ApiRoute {
  method: 'GET' | 'POST';
  url: string;
  operation: SandboxOperation;
}

/** Adds a route whose handler writes the reply. `id` is the decoded path parameter, if there is one. */
export function apiRoute(
  app: FastifyInstance,
  core: SandboxCore,
  { method, url, operation }: ApiRoute,
  handle: (exchange: Exchange, id: string) => Promise<void>,
): void {
  app.route({
    method,
    url,
    exposeHeadRoute: false,
    config: { operation },
    handler: async (request, reply) => {
      const exchange = exchanges.get(request.raw);
      if (exchange === undefined) throw new Error('The request has no log entry.');
      reply.hijack();
      if (Buffer.isBuffer(request.body)) exchange.takeBody(request.body);
      try {
        await handle(exchange, (request.params as { id?: string }).id ?? '');
      } catch (error) {
        if (!reply.raw.headersSent) reply.raw.writeHead(500);
        reply.raw.end();
        process.stderr.write(`sandbox: ${error instanceof Error ? error.stack : String(error)}\n`);
      }
    },
  });
}

/** Returns the request's idempotency key, or nothing without one. */
export function idempotencyKeyOf({ headers }: Pick<FastifyRequest, 'headers'>): { idempotencyKey?: string } {
  const key = headers['idempotency-key'];
  return typeof key === 'string' ? { idempotencyKey: key } : {};
}

/** Reads a multipart body part by part, in the order sent. Returns undefined if the body has another type. */
async function readParts(exchange: Exchange): Promise<SandboxPart[] | undefined> {
  const { request, entry } = exchange;
  if (!request.isMultipart()) return undefined;
  const whole = createHash('sha256');
  request.raw.on('data', (chunk: Buffer) => {
    entry.bodyBytes += chunk.length;
    whole.update(chunk);
  });
  const parts: SandboxPart[] = [];
  entry.parts = parts;
  for await (const part of request.parts()) {
    if (part.type === 'file') {
      const bytes = await part.toBuffer();
      parts.push({
        name: part.fieldname,
        kind: 'file',
        filename: part.filename,
        contentType: part.mimetype,
        bytes: bytes.length,
        sha256: hexDigest(bytes),
      });
    } else {
      const value = String(part.value);
      parts.push({
        name: part.fieldname,
        kind: 'field',
        value,
        contentType: part.mimetype,
        bytes: Buffer.byteLength(value),
        sha256: hexDigest(value),
      });
    }
  }
  entry.bodySha256 = whole.digest('hex');
  return parts;
}

/** Like `readParts`, but replies to an incomplete body with 400 and returns 'unreadable'. */
export async function readPartsOrRefuse(
  exchange: Exchange,
): Promise<SandboxPart[] | undefined | 'unreadable'> {
  try {
    return await readParts(exchange);
  } catch {
    exchange.entry.violations.push('the multipart body could not be read');
    const refusal = errorReply(400, 'The multipart body could not be read.', { code: 'invalid_multipart' });
    await exchange.send(refusal);
    return 'unreadable';
  }
}

/**
 * Reads a create's body from JSON or, in `compat` mode, also from multipart, and returns it with the contract's names
 * and types. Returns undefined if the body is neither, and 'unreadable' if it was incomplete and a 400 was sent.
 */
export async function readCreateBody(exchange: Exchange): Promise<JsonObject | undefined | 'unreadable'> {
  if (exchange.core.options.mode === 'strict') return exchange.json();
  const parts = await readPartsOrRefuse(exchange);
  if (parts === 'unreadable') return parts;
  const body = parts === undefined ? exchange.json() : formFields(parts);
  return body === undefined ? undefined : compatCreate(body);
}
