import { CliError } from '../cli-error';
import { type CommandContext } from '../command-context';
import { type CheckReport } from './check';
import { CHECKS } from './checks';
import { gatherFacts } from './facts';
import { inOrder } from './in-order';
import { linesOf } from './report-lines';
import { runChecks } from './run-checks';
import { summaryOf } from './summary';

/**
 * Runs every check and prints each as soon as it and those before it are done.
 * @throws CliError of the first check that failed, with all reports as its data
 */
export async function runDoctor({ report }: CommandContext, env: NodeJS.ProcessEnv): Promise<void> {
  const facts = await gatherFacts(env, process.cwd());
  const print = inOrder(
    CHECKS.map(({ name }) => name),
    (finished) => {
      for (const line of linesOf(finished)) report.result(line);
    },
  );
  let checks: readonly CheckReport[];
  try {
    checks = await runChecks(CHECKS, facts, (finished) => {
      report.event('check', finished);
      print(finished);
    });
  } finally {
    await facts.session.connection?.close().catch(() => undefined);
  }
  const summary = summaryOf(checks);
  report.result(summary);
  const first = checks.find((check) => check.state === 'failed');
  if (first === undefined) {
    report.reply({ ok: true, data: { ok: true, checks, summary } });
    return;
  }
  const { errorType: type, message, remedy: hint } = first;
  // The check's own line says it, with its remedy.
  throw CliError.from({ type, message, hint }, { ok: false, checks, summary }, true);
}
