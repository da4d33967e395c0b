import { goldenProblems } from '../../replay/golden-histories';
import { type UnloadedTarget } from '../../replay/history-folder';
import { type Verdict } from '../../replay/verdict';
import { type ReplayOptions } from '../commands/replay';
import { type CommandContext } from '../context';
import { CliError, failureOf, withoutSecrets } from '../errors';
import { codeFor } from './code-for';
import { inspectTarget } from './inspect-target';
import { loadTargets } from './load-targets';
import { type PoolOptions, replayInPool } from './replay-pool';
import { replayProgress } from './replay-progress';
import { ReplaySummary } from './replay-summary';
import { Stories } from './stories';
import { type TargetReport } from './target-report';
import { closingLines, verdictLines } from './verdict-lines';

/** `replay`: prints each target with the verdict about its runs. */
export async function replay(
  context: CommandContext,
  targets: readonly string[],
  options: ReplayOptions,
): Promise<void> {
  const { report } = context;
  const code = await codeFor(options);
  if (options.inspect !== undefined)
    return inspectTarget(context, code, loadTargets(context, targets, options), options);

  const golden = options.golden === undefined ? [] : await checkGolden(options.golden);
  for (const problem of golden) report.result(problem);
  const summary = new ReplaySummary({ named: options.query === undefined && options.allOpen !== true });
  const progress = replayProgress(report);
  const stories = new Stories(context, { targets, options });
  const shown: object[] = [];
  const request = { code, env: context.env, targets, options };
  for await (const target of replayInPool(request, poolOptions(options))) {
    // The server no longer has what the query has found.
    if (!('error' in target) && target.runs.length === 0) continue;
    summary.add(target);
    progress.update(summary);
    const story = 'error' in target ? undefined : stories.told(target.target, target.timeline);
    if (report.machine) shown.push({ ...jsonOf(target), ...(story !== undefined && { timeline: story }) });
    else if (story !== undefined) for (const line of stories.lines(story)) report.result(line);
    if (!report.machine) for (const line of linesOf(context, target, summary.runs)) report.result(line);
  }
  progress.stop();
  await stories.write();
  if (!report.machine) for (const line of closingLines(summary.differs())) report.say(line);
  report.say(summary.line());
  const data = { targets: shown, summary: summary.counts(), ...(golden.length > 0 && { golden }) };
  const failed = golden.length > 0 ? 'golden_differs' : summary.failure();
  if (failed === undefined) report.reply({ ok: true, data });
  else throw new CliError(failed, summary.message(failed), { data });
}

/** A target as it is printed. What happened in it belongs before its verdicts. */
function linesOf(
  { report }: CommandContext,
  target: TargetReport | UnloadedTarget,
  replayed: number,
): readonly string[] {
  if ('error' in target) return [`${report.paintResult('bad', 'unreadable')}  ${target.error.message}`];
  return target.runs.flatMap((run) =>
    // Of thousands, those that replay are only counted.
    run.verdict.verdict === 'identical' && replayed > MOST_IDENTICAL
      ? []
      : verdictLines(run, run.verdict, report.paintResult),
  );
}

const MOST_IDENTICAL = 20;

function poolOptions({ concurrency }: ReplayOptions): PoolOptions {
  return concurrency === undefined ? {} : { concurrency: Number(concurrency) };
}

function jsonOf(target: TargetReport | UnloadedTarget): object {
  if ('error' in target) {
    const { type, message } = failureOf(target.error).reply;
    return { target: target.target, error: { type, message } };
  }
  return {
    target: target.target,
    runs: target.runs.map(({ workflowId, runId, workflowType, source, verdict }) => ({
      workflowId,
      runId,
      workflowType,
      source,
      verdict: cleaned(verdict),
    })),
  };
}

/** Errors and summaries of somebody else's code may repeat what they were given. */
function cleaned(verdict: Verdict): unknown {
  if (verdict.verdict === 'identical') return verdict;
  const text = JSON.stringify(verdict, (_field, value: unknown) =>
    typeof value === 'string' ? withoutSecrets(value) : value,
  );
  return JSON.parse(text) as unknown;
}

const WORDS = {
  missing: 'is in the manifest and not in the folder',
  changed: 'is not as it was recorded',
  not_listed: 'is in the folder and not in the manifest',
} as const;

/** What is wrong with the files of a folder of golden histories, whether they replay or not. @throws HistoryError */
async function checkGolden(folder: string): Promise<readonly string[]> {
  return (await goldenProblems(folder)).map(({ file, problem }) => `${file} ${WORDS[problem]}.`);
}
