import { asyncLocalStorage, log, metricMeter } from '@temporalio/activity';
import { isBug } from '../domain/bug';
import { METRICS } from '../domain/metrics';

/**
 * Tells of a mistake of this package: in the log at ERROR, with the places in the code but not the message, which may
 * repeat a value; and in a metric. The SDK logs a failure of an activity at WARN, and a value not at all.
 */
export function reportMistake(error: unknown): void {
  const { name, stack } = error instanceof Error ? error : new Error('not an error');
  const frames = framesOf(stack);
  const message = 'This is a mistake of temporal-media. Please report it with its stack';
  if (asyncLocalStorage.getStore() === undefined) {
    // A loop of its own in the worker's process has no logger; Node prints a warning, and the host can listen to it.
    process.emitWarning(message, { type: name, detail: frames.join('\n') });
    return;
  }
  log.error(message, { stack: [name, ...frames].join('\n') });
  const { name: counter, help } = METRICS.internalErrors;
  metricMeter.createCounter(counter, undefined, help).add(1);
}

/** {@link reportMistake}, where other errors have an answer already. */
export function reportIfMistake(error: unknown): void {
  if (isBug(error)) reportMistake(error);
}

/** The places in the code of a stack, without its message, which may repeat a value. */
export function framesOf(stack = ''): readonly string[] {
  return stack.split('\n').filter((line) => /^\s+at /.test(line));
}

/** As `otherwise`, where what is paid for, or another call, must not suffer from a mistake: it is told, and work goes on. */
export function reported<T>(value: T): (error: unknown) => T {
  return (error) => {
    reportIfMistake(error);
    return value;
  };
}
