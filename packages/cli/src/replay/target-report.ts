import {
  buildTimeline,
  HistoryError,
  timelinePage,
  timelineText,
  type HistoryErrorCode,
  type LoadedRun,
  type LoadedTarget,
  type ReplayCode,
  type Timeline,
  type UnloadedTarget,
  type Verdict,
} from '@temporal-media/replay';
import { Replayer } from '@temporal-media/replay/internal/replay-histories';
import { given } from 'temporal-media/internal/domain/json';
import { type CommandContext } from '../shared/context';
import { CliError, type Failure, secretsOf } from '../shared/errors';
import { writeNamedFile } from '../shared/output-files';
import { columnsOf } from '../shared/report';
import { HistorySources, type NamedTarget, type TargetOptions } from './load-targets';
import { type ReplayOptions } from './options';

/** Up to this many named targets, the timeline is printed by default. */
const MOST_NAMED = 10;

/** Options that select which targets get a timeline. */
type StoryOptions = Pick<ReplayOptions, 'timeline' | 'html' | 'utc'>;

/** The targets and options that determine what a command prints. */
interface StoryRequest extends Pick<CommandContext, 'env'> {
  readonly targets: readonly string[];
  readonly options: StoryOptions;
}

/** Builds a target's timeline. Undefined if it is neither printed nor drawn. */
function storyOf(target: LoadedTarget, request: StoryRequest): Timeline | undefined {
  if (!isPrinted(target.target, request) && request.options.html === undefined) return undefined;
  return build(target, secretsOf(request.env));
}

/** Whether to print a timeline. Targets from a query or folder get one only on request. */
function isPrinted(target: string, { targets, options }: Omit<StoryRequest, 'env'>): boolean {
  return options.timeline ?? (targets.length <= MOST_NAMED && targets.includes(target));
}

function build(target: LoadedTarget, secrets: readonly string[]): Timeline {
  const children = (target.children ?? []).map((child) => build(child, secrets));
  return buildTimeline(target, { children, secrets });
}

/** Selects the timelines to print, and writes the HTML page for one of them. */
export class Stories {
  private page: { readonly target: string; readonly html: string } | undefined;

  constructor(
    private readonly context: Pick<CommandContext, 'report'>,
    private readonly request: Omit<StoryRequest, 'env'>,
  ) {}

  /** Returns a target's timeline if it must be printed. */
  toPrint(target: string, timeline: Timeline | undefined): Timeline | undefined {
    if (timeline !== undefined && this.request.options.html !== undefined) this.draw(timeline, target);
    return isPrinted(target, this.request) ? timeline : undefined;
  }

  lines(timeline: Timeline): readonly string[] {
    const { report } = this.context;
    const { utc = false } = this.request.options;
    const layout = { paint: report.paintResult, width: columnsOf(process.stdout), utc };
    return [...timelineText(timeline, layout).split('\n'), ''];
  }

  /** Writes the page if requested. @throws CliError when there was no workflow to draw */
  async write(): Promise<void> {
    const { html } = this.request.options;
    if (html === undefined) return;
    if (this.page === undefined)
      throw new CliError('usage', '--html requires a workflow, but none was found.');
    await writeNamedFile('--html', html, this.page.html);
    this.context.report.say(`Page: ${html}`);
  }

  private draw(timeline: Timeline, target: string): void {
    if (this.page !== undefined)
      throw new CliError(
        'usage',
        `--html can draw only one workflow, but several were found: ${this.page.target} and ${target}.`,
      );
    this.page = { target, html: timelinePage(timeline) };
  }
}

/** A replay thread's reply: `report` for a target, `done` for null, which ends the thread. */
export interface ThreadMessage {
  readonly report?: SentReport;
  readonly done?: true;
  /** An error that stops the command. */
  readonly failed?: Failure['reply'];
}

/** A report without class instances, which cannot be passed between threads. */
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

/** The report about one run, without its history, so that memory can be freed. */
export interface ReportedRun extends Omit<LoadedRun, 'history'> {
  /** Number of events in the history. */
  readonly events: number;
  readonly verdict: Verdict;
}

/** The report about one target. */
export interface TargetReport {
  readonly target: string;
  readonly runs: readonly ReportedRun[];
  /** Absent unless requested. */
  readonly timeline?: Timeline;
}

/** A command's replay request, as values that can be passed to another thread. */
export interface ReplayRequest extends Pick<CommandContext, 'env'> {
  readonly code: ReplayCode;
  /** The command's arguments. */
  readonly targets: readonly string[];
  readonly options: TargetOptions & StoryOptions;
}

/** Loads and replays targets, and reports what the command shows about them. */
export class Reporter {
  readonly #sources: HistorySources;
  readonly #replayer: Replayer;

  constructor(private readonly request: ReplayRequest) {
    this.#sources = new HistorySources(request, request.options);
    this.#replayer = new Replayer(request.code);
  }

  /** Yields the targets that the command's arguments name. */
  names(): AsyncGenerator<NamedTarget, undefined> {
    return this.#sources.names(this.request.targets);
  }

  async report(named: NamedTarget): Promise<TargetReport | UnloadedTarget> {
    const target = await this.#sources.load(named);
    if ('error' in target) return target;
    const runs: ReportedRun[] = [];
    for (const run of target.runs) {
      const verdict = await this.#replayer.verdictOf(run);
      const { history, ...rest } = run;
      runs.push({ ...rest, events: history.events?.length ?? 0, verdict });
    }
    return { target: target.target, runs, ...given({ timeline: storyOf(target, this.request) }) };
  }

  async close(): Promise<void> {
    await this.#replayer.close();
  }
}
