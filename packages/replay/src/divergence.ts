import { type History } from '@temporalio/common/lib/proto-utils';
import { type RecordedCommand } from './command-recorder';
import {
  commandEvent,
  type CommandEvent,
  commandView,
  lastingCommands,
  leadsTo,
  typeNameOf,
} from './history-commands';
import { type SourceLocation } from './source-location';
import { type Divergence } from './verdict';

/**
 * Finds the first event that the code does not lead to. The SDK compares a workflow task when it reads the events of the
 * next one, so that the last task that ran is the one that differs; its message names an event, but not always the
 * first, and never the command.
 * @param commands of the whole replay
 * @param detail message of the SDK
 */
export function divergenceOf(
  history: History,
  commands: readonly RecordedCommand[],
  detail: string,
  locationsOf: (stack: string) => readonly SourceLocation[],
): Divergence {
  const tasks = tasksOf(history);
  const last = Math.max(0, ...commands.map(({ task }) => task));
  const started = startOf(eventIdIn(detail), tasks) ?? last;
  const produced = lastingCommands(commands.filter(({ task }) => task === started));
  const expected = tasks.find((task) => task.started === started)?.events ?? [];
  const index = expected.findIndex((event, at) => {
    const command = produced[at];
    return command === undefined || !leadsTo(commandView(command), event);
  });
  // Where all agree, something else does not, such as a number that the SDK gives: the last one is as near as one gets.
  const all = Math.max(expected.length, produced.length);
  const at = index !== -1 ? index : expected.length < all ? expected.length : all - 1;
  const command = produced[at];
  const event = index === -1 ? (namedEvent(history, detail) ?? expected[at]) : expected[at];
  const before = produced[at - 1] ?? lastBefore(commands, started);
  const place = command ?? before;
  const places = place === undefined ? [] : locationsOf(place.stack);
  return {
    event: event === undefined ? null : eventView(event),
    produced: command === undefined ? null : commandView(command),
    at: places,
    atProduced: command !== undefined,
    detail,
  };
}

interface Task {
  /** Event id of its start, which commands name. */
  readonly started: number;
  readonly events: readonly CommandEvent[];
}

function tasksOf({ events }: History): readonly Task[] {
  const byTask = new Map<number, CommandEvent[]>();
  for (const event of events ?? []) {
    const command = commandEvent(event);
    if (command === undefined) continue;
    const others = byTask.get(command.task);
    if (others === undefined) byTask.set(command.task, [command]);
    else others.push(command);
  }
  return (events ?? []).flatMap(({ eventId, workflowTaskCompletedEventAttributes: completed }) =>
    completed == null
      ? []
      : [{ started: Number(completed.startedEventId), events: byTask.get(Number(eventId)) ?? [] }],
  );
}

/** `HistoryEvent(id: 7, ActivityTaskScheduled)`. */
function eventIdIn(detail: string): number | undefined {
  const id = /HistoryEvent\(id: (\d+)/.exec(detail)?.[1];
  return id === undefined ? undefined : Number(id);
}

/** The task that this event is a command of. */
function startOf(eventId: number | undefined, tasks: readonly Task[]): number | undefined {
  return tasks.find(({ events }) => events.some((event) => event.eventId === eventId))?.started;
}

function namedEvent(history: History, detail: string): CommandEvent | undefined {
  const id = eventIdIn(detail);
  const event = history.events?.find(({ eventId }) => Number(eventId) === id);
  if (event === undefined) return undefined;
  return (
    commandEvent(event) ?? {
      eventId: Number(event.eventId),
      eventType: typeNameOf(event),
      task: 0,
      kind: 'event',
      name: null,
      summary: null,
    }
  );
}

function eventView({ task: _task, ...view }: CommandEvent): NonNullable<Divergence['event']> {
  return view;
}

function lastBefore(commands: readonly RecordedCommand[], started: number): RecordedCommand | undefined {
  return commands.filter(({ task }) => task < started).at(-1);
}
