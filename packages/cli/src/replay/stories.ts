import { type LoadedTarget, type Timeline } from '@temporal-media/replay';
import { buildTimeline } from '@temporal-media/replay/internal/timeline/build-timeline';
import { timelinePage } from '@temporal-media/replay/internal/timeline/timeline-page';
import { timelineText } from '@temporal-media/replay/internal/timeline/timeline-text';
import { type ReplayOptions } from './options';
import { type CommandContext } from '../context';
import { CliError, secretsOf } from '../errors';
import { columnsOf } from '../report';
import { writeNamedFile } from '../write-named-file';

/** Named targets up to this number are told without being asked. */
const MOST_NAMED = 10;

/** Which targets of a command are told. */
export type StoryOptions = Pick<ReplayOptions, 'timeline' | 'html' | 'utc'>;

/** What a command was asked to tell. */
export interface StoryRequest extends Pick<CommandContext, 'env'> {
  readonly targets: readonly string[];
  readonly options: StoryOptions;
}

/** The timeline of a target of a command; undefined where it is neither told nor drawn. */
export function storyOf(target: LoadedTarget, request: StoryRequest): Timeline | undefined {
  if (!isTold(target.target, request) && request.options.html === undefined) return undefined;
  return build(target, secretsOf(request.env));
}

/** One of thousands that a query or a folder has is told on request only. */
function isTold(target: string, { targets, options }: Omit<StoryRequest, 'env'>): boolean {
  return options.timeline ?? (targets.length <= MOST_NAMED && targets.includes(target));
}

function build(target: LoadedTarget, secrets: readonly string[]): Timeline {
  const children = (target.children ?? []).map((child) => build(child, secrets));
  return buildTimeline(target, { children, secrets });
}

/** The timelines that a command tells, and the page of one of them. */
export class Stories {
  private page: { readonly target: string; readonly html: string } | undefined;

  constructor(
    private readonly context: Pick<CommandContext, 'report'>,
    private readonly request: Omit<StoryRequest, 'env'>,
  ) {}

  /** What is told of a target, if anything. */
  told(target: string, timeline: Timeline | undefined): Timeline | undefined {
    if (timeline !== undefined && this.request.options.html !== undefined) this.draw(timeline, target);
    return isTold(target, this.request) ? timeline : undefined;
  }

  lines(timeline: Timeline): readonly string[] {
    const { report } = this.context;
    const { utc = false } = this.request.options;
    const layout = { paint: report.paintResult, width: columnsOf(process.stdout), utc };
    return [...timelineText(timeline, layout).split('\n'), ''];
  }

  /** Writes the page, if one was asked for. @throws CliError when there was no workflow to draw */
  async write(): Promise<void> {
    const { html } = this.request.options;
    if (html === undefined) return;
    if (this.page === undefined) throw new CliError('usage', '--html found no workflow to draw.');
    await writeNamedFile('--html', html, this.page.html);
    this.context.report.say(`Page: ${html}`);
  }

  private draw(timeline: Timeline, target: string): void {
    if (this.page !== undefined)
      throw new CliError(
        'usage',
        `--html draws one workflow, but these were found: ${this.page.target} and ${target}.`,
      );
    this.page = { target, html: timelinePage(timeline) };
  }
}
