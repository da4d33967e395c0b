import { type Logger, type LogLevel, type LogMetadata, SdkComponent } from '@temporalio/common';
import { Runtime } from '@temporalio/worker';
import { type CreateJournal } from '../domain/journal';
import { type MetricKey, METRICS, type Metrics, unfailing } from '../domain/metrics';

type Meter = Runtime['metricMeter'];
type Report = (value: number, labels: { readonly [label: string]: string }) => void;

/** The metrics of one worker. */
export interface RuntimeMetrics extends Metrics {
  /** Stops reporting. After the last connection has closed, accessing the SDK's runtime would start a new one. */
  close(): void;
}

/**
 * Returns metrics that report to the SDK runtime's meter, so that one scrape contains both the SDK's metrics and this
 * package's. A runtime without an exporter drops them.
 */
export function runtimeMetrics(): RuntimeMetrics {
  let isClosed = false;
  let meter: Meter | undefined;
  let instruments = new Map<MetricKey, Report>();
  const metrics = unfailing({
    record: (key, value, labels) => {
      if (isClosed) return;
      // The SDK may replace its runtime after the last connection closes. The old runtime's instruments then fail.
      const now = Runtime.instance().metricMeter;
      if (now !== meter) [meter, instruments] = [now, new Map<MetricKey, Report>()];
      let instrument = instruments.get(key);
      if (instrument === undefined) instruments.set(key, (instrument = instrumentOf(now, key)));
      instrument(Math.max(0, Math.round(value)), labels);
    },
  });
  return {
    record: (key, value, labels) => metrics.record(key, value, labels),
    close: () => {
      isClosed = true;
    },
  };
}

/**
 * Creates an instrument without a unit, because the name already contains the unit and exporters would append it again.
 */
function instrumentOf(meter: Meter, key: MetricKey): Report {
  const { name, kind, help } = METRICS[key];
  switch (kind) {
    case 'counter': {
      const counter = meter.createCounter(name, undefined, help);
      return (value, labels) => counter.add(value, labels);
    }
    case 'gauge': {
      const gauge = meter.createGauge(name, 'int', undefined, help);
      return (value, labels) => gauge.set(value, labels);
    }
    case 'histogram': {
      const histogram = meter.createHistogram(name, 'int', undefined, help);
      return (value, labels) => histogram.record(value, labels);
    }
  }
}

/** Returns bucket bounds for this package's histograms, for an exporter's `histogramBucketOverrides`. */
export function histogramBuckets(): { [name: string]: number[] } {
  return Object.fromEntries(
    Object.values(METRICS).flatMap((metric) =>
      'buckets' in metric ? [[metric.name, [...metric.buckets]]] : [],
    ),
  );
}

/** Fields that are kept in the SDK's own log entries: IDs, types, counts and failures. */
const SHOWN: ReadonlySet<string> = new Set([
  'sdkComponent',
  'namespace',
  'taskQueue',
  'taskToken',
  'workflowId',
  'workflowRunId',
  'workflowType',
  'runId',
  'activityId',
  'activityRunId',
  'activityType',
  'service',
  'operation',
  'endpoint',
  'method',
  'ifaceName',
  'fnName',
  'attempt',
  'isLocal',
  'workflowExists',
  'durationMs',
  'size',
  'state',
  'error',
  'err',
  'exitError',
]);

/**
 * Creates a logger that forwards every entry. From the SDK's own entries, it removes fields that may contain a payload.
 * For example, the SDK logs the whole task of an unknown activity, and its input contains the prompt. Entries from
 * activities and workflows are unchanged.
 */
export function withoutPayloads(logger: Logger): Logger {
  const at =
    (level: LogLevel) =>
    (message: string, meta?: LogMetadata): void =>
      void logger.log(level, message, shown(meta));
  return {
    log: (level, message, meta) => at(level)(message, meta),
    trace: at('TRACE'),
    debug: at('DEBUG'),
    info: at('INFO'),
    warn: at('WARN'),
    error: at('ERROR'),
  };
}

function shown(meta: LogMetadata | undefined): LogMetadata | undefined {
  if (meta?.['sdkComponent'] !== SdkComponent.worker) return meta;
  const removed = Object.keys(meta).filter((name) => !SHOWN.has(name));
  return { ...meta, ...Object.fromEntries(removed.map((name) => [name, '[removed]'])) };
}

/**
 * The measured operations and their labels in `snake_case`. All other operations run only once, when a worker starts.
 */
const OPERATIONS = {
  read: 'read',
  append: 'append',
  scan: 'scan',
  findOpenByBody: 'find_open_by_body',
  forgetOpen: 'forget_open',
  indexTask: 'index_task',
  findTask: 'find_task',
  readRecord: 'read_record',
  putRecord: 'put_record',
  putMark: 'put_mark',
  hasMark: 'has_mark',
  checkWritable: 'check_writable',
} as const satisfies { readonly [operation in keyof CreateJournal]?: string };

/** Wraps a journal to report each operation's latency and failures. Does not change results or errors. */
export function measuredJournal(
  journal: CreateJournal,
  metrics: Metrics,
  now: () => number = () => performance.now(),
): CreateJournal {
  const { kind } = journal;
  const measured = Object.entries(OPERATIONS).map(([name, operation]) => {
    const run = journal[name as keyof typeof OPERATIONS].bind(journal) as (
      ...args: unknown[]
    ) => Promise<unknown>;
    const timed = async (...args: unknown[]): Promise<unknown> => {
      const startedAt = now();
      try {
        return await run(...args);
      } catch (error) {
        metrics.record('journalFailures', 1, { operation, kind });
        throw error;
      } finally {
        metrics.record('journalLatency', now() - startedAt, { operation, kind });
      }
    };
    return [name, timed];
  });
  return {
    kind,
    identity: () => journal.identity(),
    sealingKey: () => journal.sealingKey(),
    ...(Object.fromEntries(measured) as Pick<CreateJournal, keyof typeof OPERATIONS>),
  };
}

/** Reports each failure counter as 0, because a counter that starts with its first failure shows no increase. */
export function showNoFailures({ kind }: CreateJournal, metrics: Metrics): void {
  for (const operation of Object.values(OPERATIONS))
    metrics.record('journalFailures', 0, { operation, kind });
}
