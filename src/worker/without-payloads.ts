import { type Logger, type LogLevel, type LogMetadata, SdkComponent } from '@temporalio/common';

/** The fields of the SDK's own entries that are shown: ids, types and counts, and what failed. */
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
 * Passes every entry on to another logger, and removes the fields of the SDK's own entries that may contain a payload,
 * such as the whole task of an activity that this worker does not have: its input contains the prompt (C5.4c). Entries
 * of activities and workflows pass as they are.
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
