import { writeFile } from 'node:fs/promises';
import { type LoadedTarget } from '../../replay/loaded-history';
import { buildTimeline } from '../../replay/timeline/build-timeline';
import { type Timeline } from '../../replay/timeline/timeline';
import { timelinePage } from '../../replay/timeline/timeline-page';
import { timelineText } from '../../replay/timeline/timeline-text';
import { type ReplayOptions } from '../commands/replay';
import { type CommandContext } from '../context';
import { CliError, secretsOf } from '../errors';

/** Named targets up to this number are told without being asked. */
const MOST_NAMED = 10;

/** The timelines of the targets of a command, and the page of one of them. */
export class Stories {
  private readonly secrets: readonly string[];
  private page: { readonly target: string; readonly html: string } | undefined;

  constructor(
    private readonly context: CommandContext,
    private readonly targets: readonly string[],
    private readonly options: Pick<ReplayOptions, 'timeline' | 'html'>,
  ) {
    this.secrets = secretsOf(context.env);
  }

  /** Undefined where none is wanted: one of thousands that a query or a folder has is told on request only. */
  of(target: LoadedTarget): Timeline | undefined {
    const { timeline: wanted, html } = this.options;
    const isNamed = this.targets.length <= MOST_NAMED && this.targets.includes(target.target);
    const isTold = wanted ?? isNamed;
    if (!isTold && html === undefined) return undefined;
    const timeline = this.build(target);
    if (html !== undefined) this.draw(timeline, target.target);
    return isTold ? timeline : undefined;
  }

  lines(timeline: Timeline): readonly string[] {
    const { report } = this.context;
    const paint = report.paintResult;
    return [...timelineText(timeline, { paint }).split('\n'), ''];
  }

  /** Writes the page, if one was asked for. @throws CliError when there was no workflow to draw */
  async write(): Promise<void> {
    const { html } = this.options;
    if (html === undefined) return;
    if (this.page === undefined) throw new CliError('usage', '--html found no workflow to draw.');
    await writeFile(html, this.page.html);
    this.context.report.say(`Page: ${html}`);
  }

  private draw(timeline: Timeline, target: string): void {
    if (this.page !== undefined)
      throw new CliError('usage', `--html draws one workflow: here are ${this.page.target} and ${target}.`);
    this.page = { target, html: timelinePage(timeline) };
  }

  private build(target: LoadedTarget): Timeline {
    const children = (target.children ?? []).map((child) => this.build(child));
    return buildTimeline(target, { children, secrets: this.secrets });
  }
}
