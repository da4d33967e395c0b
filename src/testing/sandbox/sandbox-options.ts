import { readFileSync } from 'node:fs';
import { type FaultRule } from './fault-rule';

/**
 * How requests are judged and answered. `strict` refuses and records every violation of the contract; `compat` takes what
 * published clients send and answers as services of this family do, each model in a dialect of its own.
 */
export type SandboxMode = 'strict' | 'compat';

/**
 * What the header `Idempotency-Key` of a paid call means. `honoured`: calls with one key are one purchase, and each is
 * answered with it. `claimed`: keys are looked at, and every call is a purchase all the same.
 */
export type SandboxIdempotency = 'ignored' | 'honoured' | 'claimed';

/** Options of the sandbox service. All of them are plain JSON, so that they can cross a process boundary. */
export interface SandboxOptions {
  /** Port of the API. @default 0, a free one */
  port?: number;
  /** Port of the second origin, which serves signed links. @default 0, a free one */
  mediaPort?: number;
  /** @default '127.0.0.1' */
  host?: string;
  /** Keys that are let in. @default ['sandbox-key'] */
  apiKeys?: string[];
  /** Keys that are known but have no access: 403 (contract 5). @default [] */
  forbiddenKeys?: string[];
  /** @default 'strict' */
  mode?: SandboxMode;
  /** Kept in memory: a restarted sandbox knows no keys. @default 'ignored' */
  idempotency?: SandboxIdempotency;
  /**
   * `minimal` records hold id, status and progress only (contract 4); in `compat` mode the keys of the published videos
   * API and no others.
   * @default 'full'
   */
  records?: 'minimal' | 'full';
  /** Path prefix of the base address, for example '/proxy/media' (C0.2). @default '' */
  pathPrefix?: string;
  /** Replaces the time in the queue and in progress of every model, in milliseconds. */
  timing?: { queuedMs?: number; runningMs?: number };
  /** How long signed links and generated files live, in milliseconds. @default 900000 */
  linkTtlMs?: number;
  faults?: FaultRule[];
  /** JSON file with an array of fault rules, added after `faults`. */
  faultFile?: string;
  /** Directory for tasks, counters, generated files and `requests.jsonl`: a restarted sandbox goes on there. */
  dataDir?: string;
  /**
   * For load tests: `shared` is one video per model and duration instead of one per task; `stamped` the same picture, but
   * bytes of its own for each task.
   * @default 'per_task'
   */
  videos?: 'per_task' | 'shared' | 'stamped';
  /** One line per request on stderr. @default false */
  log?: boolean;
}

/** Options with every default filled in. */
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

/** Fills in the defaults and reads the fault file. Throws for an unknown mode or when the file is no JSON array. */
export function resolveSandboxOptions(options: SandboxOptions = {}): ResolvedSandboxOptions {
  const prefix = (options.pathPrefix ?? '').replace(/\/+$/, '');
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
    faults: [...(options.faults ?? []), ...readFaultFile(options.faultFile)],
    dataDir: options.dataDir,
    videos: options.videos ?? 'per_task',
    log: options.log ?? false,
  };
}

function readMode(mode: string = 'strict'): SandboxMode {
  if (mode === 'strict' || mode === 'compat') return mode;
  throw new TypeError("The mode of the sandbox must be 'strict' or 'compat'.");
}

function readFaultFile(path: string | undefined): FaultRule[] {
  if (path === undefined) return [];
  const rules: unknown = JSON.parse(readFileSync(path, 'utf8'));
  if (!Array.isArray(rules)) throw new TypeError('The fault file must hold a JSON array of fault rules.');
  return rules as FaultRule[];
}
