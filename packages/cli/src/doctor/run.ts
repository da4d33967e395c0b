import { type CommandContext } from '../shared/context';
import { CliError, failureOf } from '../shared/errors';
import { type CommandErrorType } from '../shared/exit-codes';
import {
  type DoctorCheck,
  type CheckName,
  type CheckReport,
  type DoctorFacts,
  failedCheck,
  type Finding,
  gatherFacts,
  skipped,
} from './check';
import { artifacts, journal, nodeVersion, oneSdk, settings } from './local';
import { payloads } from './payloads';
import { models, proxy, service } from './service';
import { binding, namespaceCheck, temporalServer, workers } from './temporal';
import { waiting } from './waiting';

/**
 * Runs every check as soon as its dependencies are done, and independent checks concurrently. Never rejects: a check
 * that throws or hangs has failed. @returns one report per check, in list order
 */
export async function runChecks(
  checks: readonly DoctorCheck[],
  facts: DoctorFacts,
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

async function findingOf(
  check: DoctorCheck,
  facts: DoctorFacts,
  blocking: CheckReport | undefined,
): Promise<Finding> {
  if (check.workerSide === true && !facts.workerSide)
    return { state: 'skipped', message: "Not checked: this check needs a worker's settings." };
  if (blocking !== undefined) return skipped(rootOf(blocking));
  try {
    return await withinLimit(check, facts);
  } catch (error) {
    const { type, message, hint } = failureOf(error).reply;
    return failedCheck(type as CommandErrorType, message, hint === '' ? undefined : hint);
  }
}

/** Returns the check that failed. The blocking check itself may only have been skipped because of that failure. */
function rootOf(blocking: CheckReport): CheckName {
  return blocking.state === 'skipped' && blocking.dependsOn !== undefined
    ? blocking.dependsOn
    : blocking.name;
}

async function withinLimit(check: DoctorCheck, facts: DoctorFacts): Promise<Finding> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Finding>((resolve) => {
    const message = `Timed out after ${Math.round(check.limitMs / 1_000)} s.`;
    timer = setTimeout(() => resolve(failedCheck(check.late, message)), check.limitMs);
  });
  try {
    return await Promise.race([check.run(facts), late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Runs every check. Prints each result as soon as all earlier ones are printed.
 * @throws CliError for the first check that failed, with all reports as its data
 */
export async function runDoctor({ report }: CommandContext, env: NodeJS.ProcessEnv): Promise<void> {
  const facts = await gatherFacts(env, process.cwd());
  const print = reportInOrder(
    CHECKS.map(({ name }) => name),
    (finished) => {
      for (const line of checkLines(finished)) report.result(line);
    },
  );
  const checks = await runChecks(CHECKS, facts, (finished) => {
    report.event('check', finished);
    print(finished);
  });
  const summary = summaryOf(checks);
  report.result(summary);
  const first = checks.find((check) => check.state === 'failed');
  if (first === undefined) {
    report.reply({ ok: true, data: { ok: true, checks, summary } });
    return;
  }
  const { errorType: type, message, remedy: hint } = first;
  // The message and the remedy have already been printed.
  throw CliError.from({ type, message, hint }, { ok: false, checks, summary }, true);
}

/** Passes on each report, in the order of `names`, as soon as all earlier ones have arrived. */
export function reportInOrder(
  names: readonly CheckName[],
  handOn: (report: CheckReport) => void,
): (report: CheckReport) => void {
  const waiting = new Map<CheckName, CheckReport>();
  let next = 0;
  return (report) => {
    waiting.set(report.name, report);
    for (;;) {
      const name = names[next];
      const ready = name === undefined ? undefined : waiting.get(name);
      if (ready === undefined) return;
      next += 1;
      handOn(ready);
    }
  };
}

/** All checks, each after the ones it depends on. The first failure decides the exit code. */
export const CHECKS: readonly DoctorCheck[] = [
  nodeVersion,
  oneSdk,
  settings,
  temporalServer,
  namespaceCheck,
  proxy,
  models,
  service,
  artifacts,
  journal,
  binding,
  // This check is late in the list, because earlier checks find and explain most problems that keep a worker from
  // starting.
  workers,
  payloads,
  waiting,
];

const WORDS = { ok: 'ok', warning: 'warn', failed: 'FAIL', skipped: 'skip' } as const;
const WIDTH = Math.max(...CHECKS.map(({ title }) => title.length));

/** Returns a line about one check, followed by its remedy if it has one. */
export function checkLines(report: CheckReport): readonly string[] {
  const title = CHECKS.find(({ name }) => name === report.name)?.title ?? report.name;
  const line = `${WORDS[report.state].padEnd(4)} ${title.padEnd(WIDTH)}  ${report.message}`;
  return 'remedy' in report ? [line, `     ${' '.repeat(WIDTH)}  ${report.remedy}`] : [line];
}

/** Summarizes whether a video could be created, and which checks were skipped. */
export function summaryOf(checks: readonly CheckReport[]): string {
  const failures = checks.filter(({ state }) => state === 'failed').map(({ name }) => name);
  if (failures.length > 0) {
    const count = `${failures.length} of ${checks.length} checks failed`;
    return `Videos cannot be created now: ${count} (${failures.join(', ')}).`;
  }
  const unseen = checks.filter(({ state }) => state === 'skipped').map(({ name }) => name);
  return unseen.length === 0
    ? 'Videos can be created now.'
    : `Videos can be created now, as far as this machine can check. Not checked: ${unseen.join(', ')}. To check them, run \`doctor\` where the worker runs.`;
}
