import { type LostCalls } from 'temporal-media/worker';
import { CliError } from './errors';
import { type Report } from './report';
import { askTerminal, isTerminal, TERMINAL } from './spend/confirm-spend';

/** Most ids that a line names; a script gets all of them. */
const NAMED = 20;

/** Prints what a rebind gives up and requires an agreement to it. @throws CliError `rebind_not_confirmed` */
export async function confirmRebind(
  report: Report,
  taskQueue: string,
  lost: LostCalls,
  yes: boolean,
): Promise<void> {
  for (const line of rebindLines(taskQueue, lost)) report.say(line);
  if (yes) return;
  const question = `Take the task queue ${taskQueue} over with this journal?`;
  if (!report.machine && isTerminal(TERMINAL) && (await askTerminal(question, TERMINAL))) return;
  throw new CliError('rebind_not_confirmed', `What a rebind of ${taskQueue} gives up was not agreed to.`, {
    data: { taskQueue, found: keysOf(lost, true), unconfirmed: keysOf(lost, false) },
  });
}

/** Describes what happens to the calls that this journal does not know. */
export function rebindLines(taskQueue: string, lost: LostCalls): string[] {
  const [found, unknown] = [keysOf(lost, true), keysOf(lost, false)];
  return [
    `A rebind of ${taskQueue} gives up what the journal of the workers before knows, for good.`,
    ...(found.length + unknown.length === 0
      ? [`- No paid call that this journal lacks was found in the newest ${lost.looked} executions.`]
      : []),
    ...(found.length > 0
      ? [`- Videos that this journal lacks; their ids find them again: ${namesOf(found)}`]
      : []),
    ...(unknown.length > 0
      ? [
          `- Calls of unknown fate; nothing is sent under their ids before somebody decides (temporal-media unconfirmed): ${namesOf(unknown)}`,
        ]
      : []),
    '- Creates that are under way end as unconfirmed (journal_changed) and wait for a decision too.',
    `- Ids beyond the newest ${lost.looked} executions, or whose histories the server has removed, are bought again if they are started again.`,
    'No worker may use the former journal any more.',
  ];
}

function keysOf({ calls }: LostCalls, created: boolean): string[] {
  const keys = calls.filter((call) => (call.created !== undefined) === created);
  return [...new Set(keys.map(({ creationKey }) => creationKey))];
}

function namesOf(keys: readonly string[]): string {
  const more = keys.length - NAMED;
  return `${keys.slice(0, NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
