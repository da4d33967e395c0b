import { type HistoryErrorCode, type UnloadedTarget } from '@temporal-media/replay';
import { HistoryError } from '@temporal-media/replay/internal/history-error';
import { type Failure } from '../errors';
import { type TargetReport } from './target-report';

/** What a thread that replays answers: `report` to a name, `done` to null, which ends it. */
export interface ThreadMessage {
  readonly report?: SentReport;
  readonly done?: true;
  /** The command stops. */
  readonly failed?: Failure['reply'];
}

/** A report without instances of classes, which do not pass between threads. */
export type SentReport =
  | TargetReport
  | {
      readonly target: string;
      readonly unloaded: { readonly code: HistoryErrorCode; readonly message: string };
    };

export function sentReport(report: TargetReport | UnloadedTarget): SentReport {
  if (!('error' in report)) return report;
  const { code, message } = report.error;
  return { target: report.target, unloaded: { code, message } };
}

export function receivedReport(report: SentReport): TargetReport | UnloadedTarget {
  if (!('unloaded' in report)) return report;
  const { target, unloaded } = report;
  return { target, error: new HistoryError(unloaded.code, unloaded.message) };
}
