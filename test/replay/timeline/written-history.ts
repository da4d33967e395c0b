import { historyFromJson } from '../../../packages/replay/src/history-codec';
import { type LoadedRun } from '../../../packages/replay/src/loaded-history';

/** One event of a history that a test writes: seconds since its start, and the fields of its kind, with a summary. */
export type WrittenEvent = readonly [at: number, kind: string, fields?: { readonly [name: string]: unknown }];

export const START = Date.parse('2026-11-25T10:00:00Z');

const base64 = (text: string): string => Buffer.from(text).toString('base64');

export const payload = (value: unknown): object => ({
  metadata: { encoding: base64('json/plain') },
  data: base64(JSON.stringify(value)),
});

export const payloads = (value: unknown): object => ({ payloads: [payload(value)] });

/** An application failure of this package, with its details. */
export const retryLater = (details: object): object => ({
  message: 'later',
  applicationFailureInfo: { type: 'MediaRetryLater', details: payloads(details) },
});

/** A run whose history has these events, with ids from 1. */
export function writtenRun(
  workflowType: string,
  events: readonly WrittenEvent[],
  more: Partial<LoadedRun> = {},
): LoadedRun {
  const json = {
    events: events.map(([at, kind, { summary, ...fields } = {}], index) => ({
      eventId: String(index + 1),
      eventTime: new Date(START + at * 1000).toISOString(),
      ...(summary !== undefined && { userMetadata: { summary: payload(summary) } }),
      [`${kind}EventAttributes`]:
        kind === 'workflowExecutionStarted' ? { workflowType: { name: workflowType }, ...fields } : fields,
    })),
  };
  return {
    workflowId: 'film',
    runId: 'run-1',
    workflowType,
    source: 'server',
    history: historyFromJson(json),
    ...more,
  };
}

/** A workflow task that takes no time. */
export const task = (at: number): readonly WrittenEvent[] => [
  [at, 'workflowTaskScheduled'],
  [at, 'workflowTaskStarted'],
  [at, 'workflowTaskCompleted'],
];

/** The first event and the first workflow task. */
export const begin = (input: unknown = {}): readonly WrittenEvent[] => [
  [0, 'workflowExecutionStarted', { input: payloads(input) }],
  ...task(0),
];

/** An activity from its schedule to its end, without the workflow task that reads it. `events` is the id before it. */
export const activity = (
  events: number,
  name: string,
  { at, startedAt = at, endedAt, attempt = 1, lastFailure, input = {}, result = {} }: WrittenActivity,
): readonly WrittenEvent[] => {
  const scheduledEventId = String(events + 1);
  const scheduled = { activityId: name, activityType: { name }, input: payloads(input) };
  const started = { scheduledEventId, attempt, ...(lastFailure !== undefined && { lastFailure }) };
  return [
    [at, 'activityTaskScheduled', scheduled],
    [startedAt, 'activityTaskStarted', started],
    [endedAt, 'activityTaskCompleted', { scheduledEventId, result: payloads(result) }],
  ];
};

export interface WrittenActivity {
  /** Seconds since the start of the history. */
  readonly at: number;
  readonly startedAt?: number;
  readonly endedAt: number;
  readonly attempt?: number;
  readonly lastFailure?: object;
  readonly input?: unknown;
  readonly result?: unknown;
}

/** A timer that fires. */
export const timer = (
  events: number,
  summary: string,
  at: number,
  firedAt: number,
): readonly WrittenEvent[] => [
  [at, 'timerStarted', { timerId: String(events), summary }],
  [firedAt, 'timerFired', { timerId: String(events), startedEventId: String(events + 1) }],
];

/** Puts parts of a history together, each of which gets the number of events before it. */
export function written(
  ...parts: readonly ((events: number) => readonly WrittenEvent[])[]
): readonly WrittenEvent[] {
  return parts.reduce<readonly WrittenEvent[]>((all, part) => [...all, ...part(all.length)], []);
}
