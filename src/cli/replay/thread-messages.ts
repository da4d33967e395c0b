import { HistoryError, type HistoryErrorCode } from '../../replay/history-error';
import { type UnloadedTarget } from '../../replay/history-folder';
import { CliError, type Failure, failureOf } from '../errors';
import { type TargetReport } from './target-report';

/** A message of a thread that replays. */
export type ThreadMessage =
  /** It wants the next name; null says that there is none. */
  | { readonly ask: true }
  /** About the oldest name that it has got and not answered. */
  | { readonly report: SentReport }
  | { readonly done: true }
  /** It stops, and so does the command. */
  | { readonly failed: Failure['reply'] };

/** A report without instances of classes, which do not pass between threads. */
export type SentReport =
  | TargetReport
  | {
      readonly target: string;
      readonly unloaded: { readonly code: HistoryErrorCode; readonly message: string };
    };

export function sentOf(report: TargetReport | UnloadedTarget): SentReport {
  if (!('error' in report)) return report;
  const { code, message } = report.error;
  return { target: report.target, unloaded: { code, message } };
}

export function receivedReport(report: SentReport): TargetReport | UnloadedTarget {
  if (!('unloaded' in report)) return report;
  const { target, unloaded } = report;
  return { target, error: new HistoryError(unloaded.code, unloaded.message) };
}

export function sentError(error: unknown): Failure['reply'] {
  return failureOf(error).reply;
}

export function receivedError(reply: Failure['reply']): CliError {
  return CliError.from(reply);
}
