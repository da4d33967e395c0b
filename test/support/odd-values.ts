import { isObject } from '../../src/domain/shape';

/** What callers without types send where a message or an input is expected. All of it is JSON. */
export const ODD_VALUES: readonly unknown[] = [
  null,
  {},
  [],
  '',
  'text',
  'x'.repeat(100_000),
  -1,
  0.5,
  1e308,
  true,
  'NaN',
  [null],
  [{}],
  [[[]]],
  Array.from({ length: 10_000 }, (_, place) => ({ place })),
  Array.from({ length: 10_000 }, () => null),
  JSON.parse('{"__proto__": {"n": 1, "taskId": "task-1"}}'),
  { n: 'NaN' },
  { n: 1e308 },
  { n: 1e308, results: { segments: [] } },
  { n: 1e308, batch: 0, campaignRun: 'run', results: { segments: [null] }, ended: [null] },
  { n: 1e308, slots: null, granted: '1', stop: {}, handBack: 0 },
  { workflowId: null, runId: 1 },
  { by: 'somebody', reason: {} },
  { taskId: {}, by: [], reason: null },
  { budget: { microUnits: 1e308, currency: [] } },
  { concurrency: 1e308 },
  { select: { rows: 'again', outcomes: [null], keys: {} } },
  [{ waiter: null, state: null }],
  [{ waiter: {}, state: {} }],
  [{ waiter: { workflowId: 'w', runId: 'r', activityId: '1' }, state: { video: { polling: null } } }],
];

/** Every place in a value of JSON, as the names that lead there, with what is there. */
export function placesOf(
  value: unknown,
  place: readonly string[] = [],
): readonly (readonly [place: readonly string[], value: unknown])[] {
  const inner =
    isObject(value) || Array.isArray(value) ? Object.entries(value as Record<string, unknown>) : [];
  return inner.flatMap(([name, one]) => [
    [[...place, name], one] as const,
    ...placesOf(one, [...place, name]),
  ]);
}

/** A copy with another value in one place. */
export function withValue(target: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined || typeof target !== 'object' || target === null) return value;
  const copy = Array.isArray(target) ? Array.from<unknown>(target) : { ...target };
  return Object.assign(copy, { [name]: withValue((target as Record<string, unknown>)[name], rest, value) });
}

/** Orders of a campaign to a batch. */
export const ORDERS = {
  n: 1,
  slots: 4,
  createsPerSecond: null,
  granted: null,
  paused: false,
  stop: null,
  handBack: false,
};
