import inspector from 'node:inspector';
import {
  type UnloadedTarget,
  type LoadedRun,
  type LoadedTarget,
  type ReplayCode,
  type Verdict,
} from '@temporal-media/replay';
import { goldenProblems } from '@temporal-media/replay/internal/history-folder';
import { inspectRun } from '@temporal-media/replay/internal/inspect-run';
import { SingleBar } from 'cli-progress';
import { type DecidedEntry } from 'temporal-media';
import { otherwise } from 'temporal-media/internal/domain/bug';
import { given } from 'temporal-media/internal/domain/json';
import { type Connected, connect } from '../shared/connect';
import { type CommandContext, effectiveConfig, effectiveEnvironment } from '../shared/context';
import { CliError, failureOf, withoutSecrets } from '../shared/errors';
import { columnsOf, type LiveView, type Report } from '../shared/report';
import { shellWord } from '../shared/text';
import { statusLines, videoStatus, type VideoStatus } from '../status/run';
import { decidedText } from '../unconfirmed/run';
import { codeFor } from './code';
import { loadTargets } from './load-targets';
import { type ReplayOptions } from './options';
import { type PoolOptions, replayInPool } from './replay-pool';
import { Stories, type TargetReport } from './target-report';
import { closingLines, ReplaySummary, verdictLines, wrapped } from './text';

/** `replay`: prints each target with the verdicts for its runs. */
export async function replay(
  context: CommandContext,
  targets: readonly string[],
  options: ReplayOptions,
): Promise<void> {
  const { report } = context;
  const code = await codeFor(options, context.env);
  if (options.inspect !== undefined)
    return inspectTarget(context, code, loadTargets(context, targets, options), options);

  const golden = options.golden === undefined ? [] : await checkGolden(options.golden);
  for (const problem of golden) report.result(problem);
  const summary = new ReplaySummary({
    named: options.query === undefined && options.allOpen !== true,
    strictInputs: options.strictInputs ?? options.golden !== undefined,
  });
  const progress = replayProgress(report);
  const stories = new Stories(context, { targets, options });
  const lookup = new SinceThenLookup(context, options);
  const shown: object[] = [];
  const request = { code, env: context.env, targets, options };
  for await (const target of replayInPool(request, poolOptions(options))) {
    // The server no longer stores the execution that the query found.
    if (!('error' in target) && target.runs.length === 0) continue;
    summary.add(target);
    progress.update(summary);
    const story = 'error' in target ? undefined : stories.toPrint(target.target, target.timeline);
    const since =
      story === undefined || 'error' in target ? undefined : await lookup.of(target.target, target.runs);
    const call = isWithoutHistory(target) ? await lookup.callOf(target.target) : undefined;
    if (report.machine) {
      shown.push({ ...jsonOf(target), ...given({ timeline: story, since, call }) });
      continue;
    }
    if (isWithoutHistory(target)) {
      for (const line of [
        target.target,
        target.error.message,
        ...(call ? statusLines(call, report.paintResult) : []),
      ])
        report.result(line);
      continue;
    }
    if (story !== undefined)
      for (const line of stories.lines(hasNews(since) ? { ...story, advice: null } : story))
        report.result(line);
    const sinceThen = since === undefined ? [] : sinceThenLines(target.target, since);
    for (const line of [...sinceThen, ...linesOf(context, target, summary.runs)])
      for (const part of wrapped(line, columnsOf(process.stdout))) report.result(part);
  }
  progress.stop();
  await stories.write();
  if (!report.machine)
    for (const line of closingLines(summary, options))
      for (const part of wrapped(line, columnsOf(process.stderr))) report.say(part);
  report.say(summary.line());
  const data = { targets: shown, summary: summary.counts(), ...(golden.length > 0 && { golden }) };
  const failed = golden.length > 0 ? 'golden_differs' : summary.failure();
  if (failed === undefined) report.reply({ ok: true, data });
  else throw new CliError(failed, summary.message(failed), { data });
}

function isWithoutHistory(target: TargetReport | UnloadedTarget): target is UnloadedTarget {
  return 'error' in target && target.error.code === 'no_history';
}

/** Returns a target's verdicts as lines. Its timeline is printed before them. */
function linesOf(
  { report }: CommandContext,
  target: TargetReport | UnloadedTarget,
  replayed: number,
): readonly string[] {
  if ('error' in target) return [`${report.paintResult('bad', 'unreadable')}  ${target.error.message}`];
  return target.runs.flatMap((run) =>
    // With many targets, those that replay successfully are counted but not listed.
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

/** Removes secrets from a verdict, because errors and summaries from third-party code may repeat its input. */
function cleaned(verdict: Verdict): unknown {
  if (verdict.verdict === 'identical') return verdict;
  const text = JSON.stringify(verdict, (_field, value: unknown) =>
    typeof value === 'string' ? withoutSecrets(value) : value,
  );
  return JSON.parse(text) as unknown;
}

const WORDS = {
  missing: 'is in the manifest but not in the folder',
  changed: 'has changed since it was recorded',
  not_listed: 'is in the folder but not in the manifest',
} as const;

/** Finds missing, changed and unlisted files in a folder of golden histories. @throws HistoryError */
async function checkGolden(folder: string): Promise<readonly string[]> {
  return (await goldenProblems(folder)).map(({ file, problem }) => `${file} ${WORDS[problem]}.`);
}

/** Shows the number of replayed histories on a line that is redrawn in place. Shows nothing without a terminal. */
function replayProgress(report: Report, stream: NodeJS.WriteStream = process.stderr): Progress {
  return stream.isTTY && process.env['TERM'] !== 'dumb' ? new Redrawn(report, stream) : NONE;
}

interface Progress {
  update(summary: ReplaySummary): void;
  stop(): void;
}

const NONE: Progress = { update: () => undefined, stop: () => undefined };

class Redrawn implements Progress, LiveView {
  #bar: SingleBar | undefined;
  #text = '';

  constructor(
    private readonly report: Report,
    private readonly stream: NodeJS.WriteStream,
  ) {
    report.attach(this);
  }

  update(summary: ReplaySummary): void {
    this.#text = summary.line();
    if (this.#bar === undefined) {
      this.#bar = new SingleBar({
        stream: this.stream,
        fps: 4,
        clearOnComplete: true,
        gracefulExit: false,
        format: () => this.#text,
      });
      this.#bar.start(1, 0);
    }
    this.#bar.update(0);
  }

  clear(): void {
    this.#bar?.stop();
    this.#bar = undefined;
  }

  stop(): void {
    this.clear();
    this.report.attach(undefined);
  }
}

const DEFAULT_PORT = 9229;
/** Never bind to another interface, because a debugger can run any code in this process. */
const HOST = '127.0.0.1';

/** `replay --inspect`: waits for a debugger, and replays one run under it. */
async function inspectTarget(
  { report }: CommandContext,
  code: ReplayCode,
  targets: AsyncIterable<LoadedTarget | UnloadedTarget>,
  { inspect, at, runId }: ReplayOptions,
): Promise<void> {
  const run = await runOf(targets, runId);
  const events = run.history.events?.length ?? 0;
  const eventId = at === undefined ? undefined : Number(at);
  if (eventId !== undefined && eventId > events)
    throw new CliError('usage', `--at must be at most ${events}, the number of events in the history.`);
  const port = inspect === true || inspect === undefined ? DEFAULT_PORT : Number(inspect);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new CliError('usage', '--inspect must be a port number or have no value.');
  report.say(
    `Open chrome://inspect, or attach your editor to the URL below. The replay stops ${
      eventId === undefined ? 'where the workflow begins' : `in the workflow task of event ${eventId}`
    }.`,
  );
  inspector.open(port, HOST, true);
  const error = await inspectRun(code.bundle, run, eventId);
  inspector.close();
  if (error !== undefined)
    throw new CliError('replay_differs', withoutSecrets(error.message.split('\n')[0] ?? ''));
  report.reply({
    ok: true,
    data: { workflowId: run.workflowId, runId: run.runId, stoppedAt: eventId ?? null },
  });
}

async function runOf(
  targets: AsyncIterable<LoadedTarget | UnloadedTarget>,
  runId: string | undefined,
): Promise<LoadedRun> {
  for await (const target of targets) {
    if ('error' in target) throw target.error;
    const run = target.runs.find((one) => one.runId === runId) ?? target.runs.at(-1);
    if (run !== undefined) return run;
  }
  throw new CliError('not_found', 'No run was found to inspect.');
}

/** What happened to a call after its history ended. */
interface SinceThen {
  readonly decisions: readonly DecidedEntry[];
  /** The workflow that later waited for the same task, or null. */
  readonly waitedBy: string | null;
  /** Run ids of earlier executions with the same id. */
  readonly earlierRuns: readonly string[];
  /** What is safe to do now. */
  readonly safe: string;
}

/** Looks up a command's targets with one connection. Queries the workers' journal, never the service. */
class SinceThenLookup {
  #connected: Promise<Connected> | undefined;

  constructor(
    private readonly context: CommandContext,
    private readonly options: Pick<ReplayOptions, 'dataDir' | 'runId'>,
  ) {}

  /** Returns undefined if the target was not loaded from the server by id, or if nothing is known about it. */
  async of(
    id: string,
    runs: readonly Pick<LoadedRun, 'workflowId' | 'source'>[],
  ): Promise<SinceThen | undefined> {
    const { options } = this;
    const isOfServer = runs.some(({ workflowId, source }) => workflowId === id && source === 'server');
    if (!isOfServer || options.runId !== undefined) return undefined;
    const found = await this.callOf(id);
    if (found === undefined) return undefined;
    const { decisions, workflow, earlierRuns, safe } = found;
    const waitedBy = workflow === null || workflow.workflowId === id ? null : workflow.workflowId;
    return { decisions, waitedBy, earlierRuns, safe };
  }

  /** Returns what the server and the workers' journal know about an id. Undefined if it cannot be read. */
  async callOf(id: string): Promise<VideoStatus | undefined> {
    const { context, options } = this;
    const config = effectiveConfig(context, options);
    this.#connected ??= connect(config, effectiveEnvironment(context, options));
    // What was found before is printed, so failing to find more facts is not an error.
    return this.#connected
      .then((connected) => videoStatus(connected, config, id, { askService: false }))
      .catch(otherwise(undefined));
  }
}

/** Whether the history's advice is outdated, because someone has since made a decision or waited for the task. */
const hasNews = (since: SinceThen | undefined): boolean =>
  since !== undefined && (since.decisions.length > 0 || since.waitedBy !== null);

/** Describes what happened since. Empty if the history already shows everything. */
function sinceThenLines(id: string, since: SinceThen): readonly string[] {
  const { decisions, waitedBy, earlierRuns, safe } = since;
  const news = [
    ...decisions.map(decidedText),
    ...(waitedBy === null ? [] : [`waited for by ${waitedBy}: temporal-media replay ${shellWord(waitedBy)}`]),
  ];
  const lines = news.map((text) => `  since     ${text}`);
  if (hasNews(since)) lines.push(`  now       ${safe}`);
  const [earlier] = earlierRuns;
  if (earlier !== undefined)
    lines.push(
      `  earlier   ${earlierRuns.length} with the same id: temporal-media replay ${shellWord(id)} --run-id ${earlier}`,
    );
  return lines.length === 0 ? [] : [...lines, ''];
}
