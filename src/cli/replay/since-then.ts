import { type LoadedRun } from '../../replay/loaded-history';
import { otherwise } from '../../domain/bug';
import { type DecidedEntry } from '../../domain/unconfirmed-decision';
import { type Connected, connect } from '../connect';
import { type CommandContext, effectiveConfig, effectiveEnvironment } from '../context';
import { decidedText } from '../evidence-lines';
import { shellWord } from '../text';
import { videoStatus } from '../video-status';
import { type ReplayOptions } from '../commands/replay';

/** What became of a call after its history had ended: a history does not change, its case does. */
interface SinceThen {
  readonly decisions: readonly DecidedEntry[];
  /** The wait for the same task that began afterwards; null where there is none. */
  readonly waitedBy: string | null;
  /** Runs of earlier executions of the id. */
  readonly earlierRuns: readonly string[];
  /** What is safe to do now. */
  readonly safe: string;
}

/** Looks targets of one command up, with one connection. Asks the journal of the workers, and never the service. */
export class SinceThenLookup {
  #connected: Promise<Connected> | undefined;

  constructor(
    private readonly context: CommandContext,
    private readonly options: Pick<ReplayOptions, 'dataDir' | 'runId'>,
  ) {}

  /** Undefined for what was not asked of the server by its id, and where nothing is known. */
  async of(
    id: string,
    runs: readonly Pick<LoadedRun, 'workflowId' | 'source'>[],
  ): Promise<SinceThen | undefined> {
    const { context, options } = this;
    const isOfServer = runs.some(({ workflowId, source }) => workflowId === id && source === 'server');
    if (!isOfServer || options.runId !== undefined) return undefined;
    const config = effectiveConfig(context, options);
    this.#connected ??= connect(config, effectiveEnvironment(context, options));
    // The history was told and replayed: that nobody can say more is no failure of it.
    const found = await this.#connected
      .then((connected) => videoStatus(connected, config, id, { askService: false }))
      .catch(otherwise(undefined));
    if (found === undefined) return undefined;
    const { decisions, workflow, earlierRuns, safe } = found;
    const waitedBy = workflow === null || workflow.workflowId === id ? null : workflow.workflowId;
    return { decisions, waitedBy, earlierRuns, safe };
  }
}

/** Whether somebody has decided or waited since: what the history advises is outdated then. */
export const hasNews = (since: SinceThen | undefined): boolean =>
  since !== undefined && (since.decisions.length > 0 || since.waitedBy !== null);

/** Its lines: nothing where the history itself has everything. */
export function sinceThenLines(id: string, since: SinceThen): readonly string[] {
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
      `  earlier   ${earlierRuns.length} of the same id: temporal-media replay ${shellWord(id)} --run-id ${earlier}`,
    );
  return lines.length === 0 ? [] : [...lines, ''];
}
