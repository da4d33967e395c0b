import { type FastifyReply, type FastifyRequest } from 'fastify';
import { countReceived } from './counters';
import { dialectOf } from './dialect';
import { type FaultAction, type SandboxOperation } from './fault-rule';
import { isJsonObject, type JsonObject } from './json-value';
import { type SandboxCore } from './sandbox-core';
import { inErrorShape, type SandboxReply } from './sandbox-reply';
import { sendReply } from './send-reply';
import { sha256 } from './hash';
import { type SandboxFinish, type SandboxRequest } from './sandbox-request';
import { shortened } from './request-log';

/** One request and its reply: owns the log entry and the counters of it. */
export class Exchange {
  readonly entry: SandboxRequest;
  body: Buffer = Buffer.alloc(0);
  /** Model that the request is about, once it is known: it decides the dialect of `compat` mode. */
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

  /** Takes over the body that fastify has read. */
  takeBody(body: Buffer): void {
    this.body = body;
    this.entry.bodyBytes = body.length;
    this.entry.bodySha256 = sha256(body);
  }

  /** The JSON object of the body; undefined when there is none. */
  json(): JsonObject | undefined {
    try {
      const value: unknown = JSON.parse(this.body.toString('utf8'));
      this.entry.json = shortened(value);
      return isJsonObject(value) ? value : undefined;
    } catch {
      return undefined;
    }
  }

  /** Counts the reply and sends it, through the fault if it is one of the transport. */
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

  /** Notes how the request ended; the first note wins. */
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
