import { randomBytes } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type SandboxCounters } from './counters';
import { type FaultRule, readFaultRules } from './faults';
import { type JsonObject } from './json-value';
import { type GeneratedFile } from './media-store';
import { type ResultLinks, type SandboxStatus, type SandboxTask, type SandboxTaskPatch } from './tasks';

/**
 * How requests are validated and answered. `strict` rejects and records every contract violation. `compat` accepts what
 * published clients send and replies like the services in this family. Each model has its own dialect.
 */
export type SandboxMode = 'strict' | 'compat';

/**
 * How a paid call's `Idempotency-Key` header is treated. `honoured`: all calls with the same key are one purchase and
 * get the same reply. `claimed`: keys are read and checked, but every call is a separate purchase.
 */
export type SandboxIdempotency = 'ignored' | 'honoured' | 'claimed';

/** Options for the sandbox service. They are plain JSON, so that they can be passed to another process. */
export interface SandboxOptions {
  /** Port of the API. @default 0, a free one */
  port?: number;
  /** Port of the second origin, which serves signed links. @default 0, a free one */
  mediaPort?: number;
  /** @default '127.0.0.1' */
  host?: string;
  /** API keys that have access. @default ['sandbox-key'] */
  apiKeys?: string[];
  /** Known API keys without access, which get a 403 (contract 5). @default [] */
  forbiddenKeys?: string[];
  /** @default 'strict' */
  mode?: SandboxMode;
  /** Keys are kept in memory and are lost on restart. @default 'ignored' */
  idempotency?: SandboxIdempotency;
  /**
   * `minimal` records contain only id, status and progress (contract 4). In `compat` mode, they contain exactly the
   * keys in the published videos API.
   * @default 'full'
   */
  records?: 'minimal' | 'full';
  /** Path prefix of the base address, for example '/proxy/media'. @default '' */
  pathPrefix?: string;
  /** Overrides the queued and running times of every model, in milliseconds. */
  timing?: { queuedMs?: number; runningMs?: number };
  /** How long signed links and generated files remain available, in milliseconds. @default 900000 */
  linkTtlMs?: number;
  /** Initial fault rules. @default none */
  faults?: FaultRule[];
  /** JSON file with an array of fault rules, added after `faults`. */
  faultFile?: string;
  /** Directory for tasks, counters, generated files and `requests.jsonl`; a restarted sandbox continues from it. */
  dataDir?: string;
  /**
   * For load tests: `shared` renders one video per model and duration instead of one per task; `stamped` uses the same
   * picture but gives each task different bytes.
   * @default 'per_task'
   */
  videos?: 'per_task' | 'shared' | 'stamped';
  /** One line per request on stderr. @default false */
  log?: boolean;
}

/** The options, with every default filled in. */
export interface ResolvedSandboxOptions {
  port: number;
  mediaPort: number;
  host: string;
  apiKeys: string[];
  forbiddenKeys: string[];
  mode: SandboxMode;
  idempotency: SandboxIdempotency;
  records: 'minimal' | 'full';
  pathPrefix: string;
  timing: { queuedMs?: number; runningMs?: number };
  linkTtlMs: number;
  faults: FaultRule[];
  dataDir: string | undefined;
  videos: 'per_task' | 'shared' | 'stamped';
  log: boolean;
}

/** Fills in the defaults and reads the fault file. Throws for an unknown mode or invalid fault rules. */
export function resolveSandboxOptions(options: SandboxOptions = {}): ResolvedSandboxOptions {
  const prefix = (options.pathPrefix ?? '').replace(/(?<!\/)\/+$/, '');
  return {
    port: options.port ?? 0,
    mediaPort: options.mediaPort ?? 0,
    host: options.host ?? '127.0.0.1',
    apiKeys: options.apiKeys ?? ['sandbox-key'],
    forbiddenKeys: options.forbiddenKeys ?? [],
    mode: readMode(options.mode),
    idempotency: options.idempotency ?? 'ignored',
    records: options.records ?? 'full',
    pathPrefix: prefix === '' || prefix.startsWith('/') ? prefix : `/${prefix}`,
    timing: options.timing ?? {},
    linkTtlMs: options.linkTtlMs ?? 900_000,
    faults: [...readFaultRules(options.faults ?? []), ...readFaultFile(options.faultFile)],
    dataDir: options.dataDir,
    videos: options.videos ?? 'per_task',
    log: options.log ?? false,
  };
}

function readMode(mode: string = 'strict'): SandboxMode {
  if (mode === 'strict' || mode === 'compat') return mode;
  throw new TypeError("The sandbox's mode must be 'strict' or 'compat'.");
}

function readFaultFile(path: string | undefined): FaultRule[] {
  if (path === undefined) return [];
  return readFaultRules(JSON.parse(readFileSync(path, 'utf8')));
}

/** One line of `accepted.jsonl`, written before the reply is sent so that accepted work survives a crash. */
type AcceptedLine =
  | { type: 'task'; task: SandboxTask }
  | { type: 'patch'; id: string; patch: SandboxTaskPatch }
  | ({ type: 'image' } & AcceptedImages);

/** An accepted image call. */
export interface AcceptedImages {
  operation: 'generate' | 'edit';
  model: string;
  prompt: string;
  results: number;
  files: GeneratedFile[];
  /** Unix time in milliseconds. */
  createdAt: number;
  size?: string;
  quality?: string;
  idempotencyKey?: string;
}

/** A sandbox's data directory. Without a path, nothing is stored. */
export class DataDir {
  constructor(private readonly path: string | undefined) {
    if (path !== undefined) mkdirSync(path, { recursive: true });
  }

  /** Returns the secret that signs links. It is stored, so that links survive a restart. */
  secret(): string {
    const fresh = randomBytes(32).toString('hex');
    if (this.path === undefined) return fresh;
    const file = join(this.path, 'link-secret');
    if (!existsSync(file)) writeFileSync(file, fresh, { mode: 0o600 });
    return readFileSync(file, 'utf8');
  }

  append(line: AcceptedLine): void {
    if (this.path !== undefined)
      appendFileSync(join(this.path, 'accepted.jsonl'), `${JSON.stringify(line)}\n`);
  }

  /** Returns all lines. Skips a line that a killed process left unfinished. */
  accepted(): AcceptedLine[] {
    return (this.read('accepted.jsonl') ?? '').split('\n').flatMap((line) => {
      try {
        return line === '' ? [] : [JSON.parse(line) as AcceptedLine];
      } catch {
        return [];
      }
    });
  }

  saveCounters(counters: SandboxCounters): void {
    if (this.path === undefined) return;
    const file = join(this.path, 'counters.json');
    writeFileSync(`${file}.new`, JSON.stringify(counters));
    renameSync(`${file}.new`, file);
  }

  counters(): SandboxCounters | undefined {
    const text = this.read('counters.json');
    return text === undefined ? undefined : (JSON.parse(text) as SandboxCounters);
  }

  /** Removes all accepted lines. */
  clear(): void {
    if (this.path === undefined) return;
    writeFileSync(join(this.path, 'accepted.jsonl'), '');
  }

  private read(name: string): string | undefined {
    if (this.path === undefined || !existsSync(join(this.path, name))) return undefined;
    return readFileSync(join(this.path, name), 'utf8');
  }
}

/** Links of a completed task in `compat` mode. `dataUrl` is empty unless the dialect embeds the video. */
export interface CompatLinks extends ResultLinks {
  dataUrl: string;
}

/** Status values and reply shapes for one service in this family (`compat` mode). The contract does not define them. */
interface Dialect {
  statusWords: Record<SandboxStatus, string>;
  /** `{error: {…}}`, `{code, message, data}`, or `{detail: [{loc, msg, type}]}`. */
  errors: 'nested' | 'flat' | 'detail';
  /** `published`: failed tasks have `{error: {code, message}}`. `varied`: their shape varies. */
  failures: 'published' | 'varied';
  /** HTTP status of a poll that returns a failed task's record. */
  failedPollStatus: number;
  /** Returns the fields with the result URL, if any. */
  result(links: CompatLinks): JsonObject;
  /** Whether `result` needs the video itself. */
  embedsVideo: boolean;
}

/** The published client's dialect: four status values, nested errors, and no result URL. */
const published: Dialect = {
  statusWords: { queued: 'queued', in_progress: 'in_progress', completed: 'completed', failed: 'failed' },
  errors: 'nested',
  failures: 'published',
  failedPollStatus: 200,
  result: () => ({}),
  embedsVideo: false,
};

const byModel = new Map<string, Partial<Dialect>>([
  ['cine-1', {}],
  // The API's own content path, relative to the origin.
  ['cine-1-pro', { result: ({ contentPath }) => ({ video_url: contentPath }) }],
  [
    'atlas-long',
    {
      statusWords: {
        queued: 'SUBMITTED',
        in_progress: 'PROCESSING',
        completed: 'SUCCESS',
        failed: 'FAILURE',
      },
      errors: 'flat',
      failures: 'varied',
      result: ({ signed }) => ({ data: { result_url: signed } }),
    },
  ],
  [
    'motion-omni',
    {
      statusWords: { queued: 'pending', in_progress: 'running', completed: 'succeeded', failed: 'error' },
      errors: 'detail',
      failures: 'varied',
      result: ({ dataUrl }) => ({ video_url: dataUrl }),
      embedsVideo: true,
    },
  ],
  [
    'sketch-lite',
    {
      statusWords: { queued: 'created', in_progress: 'generating', completed: 'done', failed: 'cancelled' },
      errors: 'flat',
      failures: 'varied',
      failedPollStatus: 500,
      // Without a scheme: relative to the API's scheme.
      result: ({ signed }) => ({ output: [signed.replace(/^https?:/, '')] }),
    },
  ],
  [
    'open-canvas',
    {
      statusWords: {
        queued: 'preparing',
        in_progress: 'In_Progress',
        completed: 'finished',
        failed: 'expired',
      },
      failures: 'varied',
      failedPollStatus: 422,
      // An API path without a leading slash: relative to the base address.
      result: ({ contentPath }) => ({ url: contentPath.slice(contentPath.lastIndexOf('/v1/') + 1) }),
    },
  ],
  ['image-2 4K', { errors: 'flat' }],
]);

/** Returns a model's dialect. A model that is not listed has the published one. */
export function dialectOf(model: string): Dialect {
  return { ...published, ...byModel.get(model) };
}

/** Returns every status value of every dialect, sorted. */
export function allStatusWords(): string[] {
  const words = [...byModel.keys()].flatMap((model) => Object.values(dialectOf(model).statusWords));
  return [...new Set(words)].sort();
}
