import { failureOf } from '../failure-of';
import { type Check, type CheckName, type CheckReport, failed, type Finding, skipped } from './check';
import { type Facts } from './facts';
import { type CommandErrorType } from '../error-types';

/**
 * Runs every check as soon as those it depends on are done; independent ones at the same time. Total: what throws or
 * hangs is a failed check. @returns one report per check, in the order of the list
 */
export async function runChecks(
  checks: readonly Check[],
  facts: Facts,
  onFinished: (report: CheckReport) => void = () => undefined,
): Promise<readonly CheckReport[]> {
  const running = new Map<CheckName, Promise<CheckReport>>();
  for (const check of checks) {
    const before = check.after.flatMap((name) => running.get(name) ?? []);
    const report = Promise.all(before).then(async (reports) => {
      const blocking = reports.find(({ state }) => state === 'failed' || state === 'skipped');
      const finding = await findingOf(check, facts, blocking);
      const finished: CheckReport = { name: check.name, ...finding };
      onFinished(finished);
      return finished;
    });
    running.set(check.name, report);
  }
  return Promise.all(running.values());
}

async function findingOf(check: Check, facts: Facts, blocking: CheckReport | undefined): Promise<Finding> {
  if (check.workerSide === true && !facts.workerSide)
    return { state: 'skipped', message: 'Not looked at: only a machine with the settings of a worker can.' };
  if (blocking !== undefined) return skipped(rootOf(blocking));
  try {
    return await withinLimit(check, facts);
  } catch (error) {
    const { type, message, hint } = failureOf(error).reply;
    return failed(type as CommandErrorType, message, hint === '' ? undefined : hint);
  }
}

/** The check with the remedy, not one that was skipped itself. */
function rootOf(blocking: CheckReport): CheckName {
  return blocking.state === 'skipped' && blocking.dependsOn !== undefined
    ? blocking.dependsOn
    : blocking.name;
}

async function withinLimit(check: Check, facts: Facts): Promise<Finding> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Finding>((resolve) => {
    const message = `No answer within ${Math.round(check.limitMs / 1_000)} s.`;
    timer = setTimeout(() => resolve(failed(check.late, message)), check.limitMs);
  });
  try {
    return await Promise.race([check.run(facts), late]);
  } finally {
    clearTimeout(timer);
  }
}
