import { createHash } from 'node:crypto';
import { createWriteStream, type WriteStream } from 'node:fs';
import { type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { type Socket } from 'node:net';
import { join } from 'node:path';
import { type SandboxOperation } from './faults';
import { isJsonObject } from './json-value';

/** One part of a multipart body, in the order received. */
export interface SandboxPart {
  /** The field's name. */
  name: string;
  /** A file has a file name; a field has a value. */
  kind: 'field' | 'file';
  /** A field's text. */
  value?: string;
  /** A file's name. */
  filename?: string;
  /** The part's Content-Type. */
  contentType: string;
  /** Size in bytes. */
  bytes: number;
  /** SHA-256 of the bytes, in lowercase hex. */
  sha256: string;
}

/** How a request ended on the wire. */
export type SandboxFinish = 'sent' | 'reset' | 'stalled' | 'cut' | 'client_gone';

/** One request as the sandbox received it. Keys, cookies and signatures are never stored. */
export interface SandboxRequest {
  /** Sequence number, in order of arrival. */
  seq: number;
  /** Time of arrival, as Unix time in milliseconds. */
  at: number;
  /** The service itself, or the host that serves its results. */
  origin: 'api' | 'media';
  /** The requested operation. */
  operation: SandboxOperation;
  /** HTTP method. */
  method: string;
  /** Path without the query. */
  path: string;
  /** Query parameters; a signature's value is replaced by 'masked'. */
  query: Record<string, string>;
  /** Headers of interest to tests, by lowercase name. */
  headers: Record<string, string>;
  /** Names of all headers. */
  headerNames: string[];
  /** Whether the key is valid. The key itself is not stored. */
  authorization: 'none' | 'valid' | 'invalid' | 'forbidden';
  /** Whether the request had a cookie. */
  cookie: boolean;
  /** Parsed JSON body; strings longer than 8192 characters are replaced by their length and SHA-256. */
  json?: unknown;
  /** The parts of a multipart body. */
  parts?: SandboxPart[];
  /** Size in bytes. */
  bodyBytes: number;
  /** SHA-256 of the body, in lowercase hex. */
  bodySha256: string;
  /** The connection's number, which all of its requests share. */
  socketId: number;
  /** The reply's status; absent while there is none. */
  status?: number;
  /** Whether the paid call was accepted, even if the reply was lost afterwards. */
  accepted: boolean;
  /** The task that was created or requested. */
  taskId?: string;
  /** The contract violations of this request. */
  violations: string[];
  /** How the request ended; absent while the reply is being sent. */
  finished?: SandboxFinish;
}

const largest = 50_000;
const longest = 8_192;
const kept =
  /^(content-type|content-length|transfer-encoding|accept|accept-encoding|range|if-range|user-agent|expect|connection)$|idempoten|request-id|client-token/;

/**
 * Requests in order of arrival: the last 50,000 in memory, and all of them in `requests.jsonl` if there is a data
 * directory.
 */
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
    const entry = new LoggedRequest(++this.seq, origin, operation, request, this.socketId(request.socket));
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

/** Parses the address and the headers only on access, because most entries of a busy sandbox are never read. */
class LoggedRequest implements SandboxRequest {
  readonly at = Date.now();
  readonly method: string;
  readonly cookie: boolean;
  authorization: SandboxRequest['authorization'] = 'none';
  bodyBytes = 0;
  bodySha256 = '';
  accepted = false;
  violations: string[] = [];
  json?: unknown;
  parts?: NonNullable<SandboxRequest['parts']>;
  status?: number;
  taskId?: string;
  finished?: NonNullable<SandboxRequest['finished']>;
  readonly #target: string;
  readonly #headers: IncomingHttpHeaders;

  constructor(
    readonly seq: number,
    readonly origin: 'api' | 'media',
    readonly operation: SandboxOperation,
    { method = '', url = '/', headers }: IncomingMessage,
    readonly socketId: number,
  ) {
    this.method = method;
    this.cookie = headers.cookie !== undefined;
    this.#target = url;
    this.#headers = headers;
  }

  get path(): string {
    return new URL(this.#target, 'http://sandbox').pathname;
  }

  get query(): Record<string, string> {
    const given = [...new URL(this.#target, 'http://sandbox').searchParams];
    return Object.fromEntries(
      given.map(([name, value]) => [name, /signature|token|key/i.test(name) ? 'masked' : value]),
    );
  }

  get headers(): Record<string, string> {
    return Object.fromEntries(
      Object.entries(this.#headers).flatMap(([name, value]) =>
        kept.test(name) ? [[name, String(value)]] : [],
      ),
    );
  }

  get headerNames(): string[] {
    return Object.keys(this.#headers);
  }

  toJSON(): SandboxRequest {
    const { seq, at, origin, operation, method, path, query, headers, headerNames } = this;
    const front = { seq, at, origin, operation, method, path, query, headers, headerNames };
    return { ...front, ...this };
  }
}

/** Returns a copy for the log, with long strings, such as base64 references, replaced by their length and hash. */
export function shortened(value: unknown): unknown {
  if (typeof value === 'string' && value.length > longest) {
    return `(${value.length} characters, sha256 ${hexDigest(value)})`;
  }
  if (Array.isArray(value)) return value.map(shortened);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shortened(inner)]));
}

/** Returns the SHA-256 in lowercase hex. */
export function hexDigest(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}
