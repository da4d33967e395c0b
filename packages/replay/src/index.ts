/**
 * Loads histories, shows what happened in them and replays them with the current code: the API behind `temporal-media
 * replay`, for programs and tests. Needs `@temporalio/worker`.
 *
 * @module
 */
export { type LoadedRun, type LoadedTarget, type PendingActivity } from './loaded-history';
export { HistoryError, type HistoryErrorCode } from './loaded-history';
export { parseHistory, readHistoryFile } from './read-history';
export { readHistoryFolder, type UnloadedTarget } from './history-folder';
export { fetchChain } from './fetch-histories';
export { decodeRun, type DecodeOptions } from './decode-payloads';
export { replayCode, type CodeOptions } from './replay-histories';
export { replayHistories, type ReplayCode, type ReplayedRun } from './replay-histories';
export { type Divergence, type InputDifference, type Verdict, type WrittenBy } from './verdict';
export { type CommandView } from './history-commands';
export { type SourceLocation } from './verdict';
export { redactHistory, type RedactOptions } from './redact-history';
export { goldenProblems, type GoldenProblem, recordGolden } from './history-folder';
export { buildTimeline, type TimelineOptions } from './timeline/build-timeline';
export { timelineText, type TextPaint, type TimelineTextOptions } from './timeline/timeline-text';
export { timelinePage } from './timeline/timeline-page';
export {
  ENTRY_KINDS,
  type EntryKind,
  type EventIds,
  type Fact,
  type Facts,
  type Lane,
  type MoneySummary,
  type NoAttempt,
  type PollChange,
  type PollSummary,
  SPENT,
  type SpentOn,
  type TimeSpent,
  type Timeline,
  type TimelineEntry,
  type TimelineRow,
  type TimelineRun,
  type Tone,
} from './timeline/timeline';
