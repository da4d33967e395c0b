/** Whether a version is older than another. Compares up to three numbers and ignores a pre-release suffix. */
export function isOlder(version: string, than: string): boolean {
  const [left, right] = [numbersOf(version), numbersOf(than)];
  for (const index of [0, 1, 2]) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

function numbersOf(version: string): readonly number[] {
  return (/\d+(?:\.\d+){0,2}/.exec(version)?.[0] ?? '').split('.').map(Number);
}

/** The oldest Temporal server version with all required features enabled by default. */
export const OLDEST_SERVER = '1.25.0';

/** Features that servers older than the given version lack, and how that affects this package. */
const SINCE: readonly (readonly [version: string, lack: string])[] = [
  [
    OLDEST_SERVER,
    'Updates (before 1.25.0 only with frontend.enableUpdateWorkflowExecution): decisions about unconfirmed calls and campaign commands (pause, resume, cancel) fail',
  ],
  ['1.28.0', "task queue priority (1.28.0): a campaign's priority has no effect"],
  [
    '1.29.0',
    'pausing and resetting single activities (1.29.0, before that only with frontend.activityAPIsEnabled), for operators',
  ],
  [
    '1.29.0',
    'task queue fairness (1.29.0, with matching.enableFairness): a large campaign may delay smaller ones',
  ],
];

/**
 * Returns the features that this server version lacks; empty if the version is unknown, as in a development build
 * (0.0.0).
 */
export function lackingIn(version: string | null | undefined): readonly string[] {
  if (!version || !/^v?[1-9]\d*\.\d/.test(version)) return [];
  return SINCE.filter(([since]) => isOlder(version, since)).map(([, lack]) => lack);
}

/** Returns the warning about missing server features that a worker logs at startup; undefined if nothing is missing. */
export function lacksOfServer(version: string | null | undefined): string | undefined {
  const lacks = lackingIn(version);
  if (version == null || lacks.length === 0) return undefined;
  const needed = isOlder(version, OLDEST_SERVER) ? `, but at least ${OLDEST_SERVER} is needed` : '';
  return `The Temporal server is running version ${version}${needed}. It lacks: ${lacks.join('; ')}.`;
}
