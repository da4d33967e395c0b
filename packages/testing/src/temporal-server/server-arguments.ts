import path from 'node:path';
import { type Connection } from '@temporalio/client';
import { type ServerConnectionOptions } from 'temporal-media/internal/client/address-source';
import { clientPackage } from './server-source';

/** Types of search attributes that `temporal server start-dev` can register. */
export type SearchAttributeTypeName =
  | 'Text'
  | 'Keyword'
  | 'Int'
  | 'Double'
  | 'Bool'
  | 'Datetime'
  | 'KeywordList';

/** Settings for one `temporal server start-dev`. */
export interface ServerArguments {
  readonly port: number;
  readonly uiPort?: number;
  readonly namespace: string;
  readonly dataDir?: string;
  readonly searchAttributes?: Readonly<Record<string, SearchAttributeTypeName>>;
  readonly dynamicConfig?: Readonly<Record<string, string>>;
}

/** Features that a development server leaves off. Otherwise `temporal workflow pause` is refused. */
const DYNAMIC_CONFIG = { 'frontend.WorkflowPauseEnabled': 'true' };

/** Returns the arguments for `temporal`. Binds every port to 127.0.0.1. */
export function serverArguments(options: ServerArguments): string[] {
  const args = [
    'server',
    'start-dev',
    '--ip',
    '127.0.0.1',
    '--port',
    String(options.port),
    '--log-level',
    'warn',
  ];
  args.push(...(options.uiPort === undefined ? ['--headless'] : ['--ui-port', String(options.uiPort)]));
  args.push('--namespace', options.namespace);
  if (options.dataDir !== undefined) {
    // Measurements showed that, per video, the default journal mode costs 33% more CPU and writes 2.5 times as many
    // bytes to disk.
    args.push('--db-filename', path.join(options.dataDir, 'temporal.db'));
    args.push('--sqlite-pragma', 'journal_mode=wal', '--sqlite-pragma', 'synchronous=1');
  }
  for (const [name, type] of Object.entries(options.searchAttributes ?? {})) {
    args.push('--search-attribute', `${name}=${type}`);
  }
  for (const [key, value] of Object.entries({ ...DYNAMIC_CONFIG, ...options.dynamicConfig })) {
    args.push('--dynamic-config-value', `${key}=${value}`);
  }
  return args;
}

const UNIT_SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;

/**
 * Converts a retention such as `72h`, `3d` or `90m` to seconds.
 * @throws RangeError when the text is invalid, or shorter than one hour, the minimum of a Temporal namespace.
 */
export function retentionSeconds(text: string): number {
  const match = /^(\d{1,6})([smhd])$/.exec(text);
  const seconds = match ? Number(match[1]) * UNIT_SECONDS[match[2] as keyof typeof UNIT_SECONDS] : NaN;
  if (!(seconds >= 3_600)) {
    throw new RangeError(
      `Retention must be a whole number followed by s, m, h or d, and at least 1h; got "${text}".`,
    );
  }
  return seconds;
}

/** Formats a retention in hours, minutes or seconds, in the largest exact unit: `259200` → `72h`. */
export function formatRetention(seconds: number): string {
  for (const unit of ['h', 'm'] as const) {
    if (seconds % UNIT_SECONDS[unit] === 0) return `${seconds / UNIT_SECONDS[unit]}${unit}`;
  }
  return `${seconds}s`;
}

/** Deadline for one gRPC call, in milliseconds. */
const CALL_MS = 5_000;

/** The server to connect to and the namespace to describe. */
interface ProbeTarget {
  readonly address: string;
  readonly namespace: string;
  readonly connection?: ServerConnectionOptions;
}

/**
 * Calls GetSystemInfo and DescribeNamespace, and sets the namespace's retention first when one is given.
 * @returns the retention that DescribeNamespace reports afterwards, such as `72h`.
 * @throws the gRPC error when a call takes longer than 5 s or the namespace does not exist.
 */
export async function probeNamespace(target: ProbeTarget, setRetentionSeconds?: number): Promise<string> {
  const { Connection } = clientPackage();
  const connection = await Connection.connect({
    ...target.connection,
    address: target.address,
    connectTimeout: CALL_MS,
  });
  try {
    await call(connection, () => connection.workflowService.getSystemInfo({}));
    if (setRetentionSeconds !== undefined) {
      await call(connection, () =>
        connection.workflowService.updateNamespace({
          namespace: target.namespace,
          config: { workflowExecutionRetentionTtl: { seconds: setRetentionSeconds } as never },
        }),
      );
    }
    const { config } = await call(connection, () =>
      connection.workflowService.describeNamespace({ namespace: target.namespace }),
    );
    return formatRetention(Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0));
  } finally {
    await connection.close();
  }
}

function call<R>(connection: Connection, request: () => Promise<R>): Promise<R> {
  return connection.withDeadline(Date.now() + CALL_MS, request);
}
