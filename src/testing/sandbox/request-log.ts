import { createWriteStream, type WriteStream } from 'node:fs';
import { type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { type Socket } from 'node:net';
import { type SandboxOperation } from './fault-rule';
import { sha256 } from './hash';
import { isJsonObject } from './json-value';
import { type SandboxRequest } from './sandbox-request';

const largest = 50_000;
const longest = 8_192;
const kept =
  /^(content-type|content-length|transfer-encoding|accept|accept-encoding|range|if-range|user-agent|expect|connection)$|idempoten|request-id|client-token/;

/** Requests in order of arrival, the last 50,000 in memory, all of them in `requests.jsonl` when there is a directory. */
export class RequestLog {
  private entries: SandboxRequest[] = [];
  private seq = 0;
  private sockets = new WeakMap<Socket, number>();
  private socketCount = 0;
  private readonly file: WriteStream | undefined;

  constructor(dataDir: string | undefined) {
    this.file =
      dataDir === undefined ? undefined : createWriteStream(join(dataDir, 'requests.jsonl'), { flags: 'a' });
  }

  begin(request: IncomingMessage, origin: 'api' | 'media', operation: SandboxOperation): SandboxRequest {
    const target = new URL(request.url ?? '/', 'http://sandbox');
    const entry: SandboxRequest = {
      seq: ++this.seq,
      at: Date.now(),
      origin,
      operation,
      method: request.method ?? '',
      path: target.pathname,
      query: Object.fromEntries(
        [...target.searchParams].map(([name, value]) => [
          name,
          /signature|token|key/i.test(name) ? 'masked' : value,
        ]),
      ),
      headers: Object.fromEntries(
        Object.entries(request.headers).flatMap(([name, value]) =>
          kept.test(name) ? [[name, String(value)]] : [],
        ),
      ),
      headerNames: Object.keys(request.headers),
      authorization: 'none',
      cookie: request.headers.cookie !== undefined,
      bodyBytes: 0,
      bodySha256: '',
      socketId: this.socketId(request.socket),
      accepted: false,
      violations: [],
    };
    this.entries.push(entry);
    if (this.entries.length > largest * 1.1) this.entries = this.entries.slice(-largest);
    return entry;
  }

  end(entry: SandboxRequest): void {
    this.file?.write(`${JSON.stringify(entry)}\n`);
  }

  list(filter: { operation?: string } = {}): SandboxRequest[] {
    const all = this.entries.slice(-largest);
    return filter.operation === undefined ? all : all.filter((entry) => entry.operation === filter.operation);
  }

  clear(): void {
    this.entries = [];
  }

  async close(): Promise<void> {
    const file = this.file;
    if (file !== undefined) await new Promise<void>((resolve) => file.end(() => resolve()));
  }

  private socketId(socket: Socket): number {
    const known = this.sockets.get(socket);
    if (known !== undefined) return known;
    this.sockets.set(socket, ++this.socketCount);
    return this.socketCount;
  }
}

/** A copy for the log in which long strings (references as base64) are replaced by their length and hash. */
export function shortened(value: unknown): unknown {
  if (typeof value === 'string' && value.length > longest) {
    return `(${value.length} characters, sha256 ${sha256(value)})`;
  }
  if (Array.isArray(value)) return value.map(shortened);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shortened(inner)]));
}
