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
  const question = `Bind the task queue ${taskQueue} to this journal?`;
  if (!report.machine && isTerminal(TERMINAL) && (await askTerminal(question, TERMINAL))) return;
  throw new CliError('rebind_not_confirmed', `The rebind of ${taskQueue} was not confirmed.`, {
    data: { taskQueue, found: keysOf(lost, true), unconfirmed: keysOf(lost, false) },
  });
}

/** Describes what happens to the calls that this journal does not know. */
export function rebindLines(taskQueue: string, lost: LostCalls): string[] {
  const [found, unknown] = [keysOf(lost, true), keysOf(lost, false)];
  return [
    `A rebind of ${taskQueue} permanently gives up what the former journal knows.`,
    ...(found.length + unknown.length === 0
      ? [`- The newest ${lost.looked} executions contain no paid call that this journal lacks.`]
      : []),
    ...(found.length > 0
      ? [`- Videos that this journal lacks; their ids find them again: ${namesOf(found)}`]
      : []),
    ...(unknown.length > 0
      ? [
          `- Calls of unknown fate; nothing is sent under their ids until a person decides (temporal-media unconfirmed): ${namesOf(unknown)}`,
        ]
      : []),
    '- Creates that are in progress end with outcome unconfirmed (journal_changed) and also wait for a decision.',
    `- Ids beyond the newest ${lost.looked} executions, or whose histories the server has removed, are bought again when they are started again.`,
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
