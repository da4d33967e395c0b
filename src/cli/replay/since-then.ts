import { otherwise } from '../../domain/bug';
import { type LoadedRun } from '../../replay/loaded-history';
import { connect } from '../connect';
import { type CommandContext, effectiveConfig, effectiveEnvironment } from '../context';
import { shellWord } from '../text';
import { videoStatus } from '../video-status';
import { type ReplayOptions } from '../commands/replay';

/** What became of a call after its history had ended: a history does not change, its case does. */
export interface SinceThen {
  readonly decisions: readonly object[];
  /** The wait for the same task that began afterwards; null where there is none. */
  readonly waitedBy: string | null;
  /** Runs of earlier executions of the id. */
  readonly earlierRuns: readonly string[];
  /** What is safe to do now. */
  readonly safe: string;
}

/** Undefined for what was not asked of the server by its id, and where nothing is known. */
export async function sinceThen(
  context: CommandContext,
  id: string,
  runs: readonly Pick<LoadedRun, 'workflowId' | 'source'>[],
  options: Pick<ReplayOptions, 'dataDir' | 'runId'>,
): Promise<SinceThen | undefined> {
  const isOfServer = runs.some(({ workflowId, source }) => workflowId === id && source === 'server');
  if (!isOfServer || options.runId !== undefined) return undefined;
  const config = effectiveConfig(context, options);
  // The history was told and replayed: that nobody can say more is no failure of it.
  const found = await connect(config, effectiveEnvironment(context, options))
    .then((connected) => videoStatus(connected, config, id))
    .catch(otherwise(undefined));
  if (found === undefined) return undefined;
  const { decisions, workflow, earlierRuns, safe } = found;
  const waitedBy = workflow === null || workflow.workflowId === id ? null : workflow.workflowId;
  return { decisions, waitedBy, earlierRuns, safe };
}

/** Its lines: nothing where the history itself has everything. */
export function sinceThenLines(id: string, since: SinceThen): readonly string[] {
  const { decisions, waitedBy, earlierRuns, safe } = since;
  const earlier = earlierRuns[0];
  const news = [
    ...decisions.map((entry) => {
      const { decision, taskId, by, at, reason } = entry as Record<string, string | null>;
      return `${decision}${taskId == null ? '' : ` ${taskId}`} by ${by} at ${at}: ${reason}`;
    }),
    ...(waitedBy === null ? [] : [`waited for by ${waitedBy}: temporal-media replay ${shellWord(waitedBy)}`]),
  ];
  const lines = news.map((text) => `  since     ${text}`);
  if (news.length > 0) lines.push(`  now       ${safe}`);
  if (earlier !== undefined)
    lines.push(
      `  earlier   ${earlierRuns.length} of the same id: temporal-media replay ${shellWord(id)} --run-id ${earlier}`,
    );
  return lines.length === 0 ? [] : [...lines, ''];
}
