import { SourceMap, type SourceMapPayload } from 'node:module';
import { basename } from 'node:path';
import { type Payload } from '@temporalio/common';
import { type History } from '@temporalio/common/lib/proto-utils';
import { VERSION_MEMO } from 'temporal-media/internal/domain/names';
import {
  commandEvent,
  type CommandEvent,
  type CommandView,
  commandView,
  lastingCommands,
  leadsTo,
  typeNameOf,
} from './history-commands';
import { type RecordedCommand } from './replay-worker';
import { decoded } from './timeline/failure-facts';

/** A location in workflow source code. */
export interface SourceLocation {
  /** The file's name in the bundle's source map; for this package's code, `temporal-media/src/…`. */
  readonly file: string;
  /** Line number, from 1. */
  readonly line: number;
  /** Column number, from 1. */
  readonly column: number;
  /** The function's name; null if it has none. */
  readonly in: string | null;
}

/** SDK and bundler code, which readers are not looking for. */
const NOT_THEIRS = /(^|[\\/])node_modules[\\/]@temporalio[\\/]|(^|[\\/])webpack[\\/]/;

const FRAME = /^\s*at (?:(?:async )?(.+?) \()?(.+?):(\d+):(\d+)\)?$/;
const SOURCE_MAP = '\n//# sourceMappingURL=data:';

/** Finds workflow code locations in a bundle's stacks, using its source map. */
export class SourceLocations {
  readonly #file: string;
  readonly #map: SourceMap;

  constructor(code: string) {
    const at = code.indexOf('base64,', code.lastIndexOf(SOURCE_MAP));
    const json = Buffer.from(code.slice(at + 'base64,'.length).trimEnd(), 'base64').toString();
    const payload = JSON.parse(json) as SourceMapPayload;
    this.#file = basename(payload.file);
    this.#map = new SourceMap(payload);
  }

  /** Returns the workflow code locations in a stack, innermost first. */
  of(stack: string): readonly SourceLocation[] {
    return stack.split('\n').flatMap((frame) => {
      const [, name, file, line, column] = FRAME.exec(frame) ?? [];
      // The SDK prefixes the source map's file name with the process's folder.
      if (file === undefined || basename(file) !== this.#file) return [];
      const found = this.#map.findEntry(Number(line) - 1, Number(column) - 1);
      if (!('originalSource' in found) || NOT_THEIRS.test(found.originalSource)) return [];
      const { originalSource, originalLine, originalColumn } = found;
      return [
        {
          file: readable(originalSource),
          line: originalLine + 1,
          column: originalColumn + 1,
          in: name ?? null,
        },
      ];
    });
  }
}

/** Removes the prefix that bundlers add to a path. */
const readable = (file: string): string => file.replace(/^webpack:\/\/[^/]*\//, '').replace(/^file:\/\//, '');

type Fields = Readonly<Record<string, Payload>>;

/** This SDK's name in histories. */
export const SDK = 'temporal-typescript';

/** Reads from a history who wrote it and who started its workflow. */
export function writtenBy(history: History): WrittenBy {
  let name = 'unknown';
  let sdk: string | null = null;
  let build: string | null = null;
  let deployment: string | null = null;
  for (const { workflowTaskCompletedEventAttributes: completed } of history.events ?? []) {
    if (completed == null) continue;
    const { sdkName, sdkVersion } = completed.sdkMetadata ?? {};
    // The SDK's name is written with the first task, and again only when it changes.
    name = sdkName || name;
    if (sdkVersion) sdk = `${name} ${sdkVersion}`;
    build = completed.workerVersion?.buildId || completed.deploymentVersion?.buildId || build;
    const version = completed.deploymentVersion;
    if (version?.deploymentName) deployment = `${version.deploymentName}.${version.buildId}`;
  }
  return {
    sdk,
    build,
    deployment,
    package: versionIn(history.events?.[0]?.workflowExecutionStartedEventAttributes?.memo),
  };
}

const VERSION = /^\d{1,4}\.\d{1,4}\.\d{1,4}$/;

/** Reads this package's version from a memo; null if another client wrote it. */
export function versionIn(memo: { readonly fields?: Fields | null } | null | undefined): string | null {
  // This is undefined for a memo from another codec or program.
  const version = decoded(memo?.fields?.[VERSION_MEMO]);
  return typeof version === 'string' && VERSION.test(version) ? version : null;
}

/**
 * Finds the first event that the code does not produce. The SDK compares a workflow task's commands only when it reads
 * the next task's events, so the last task that ran is the one that diverges. The SDK's message mentions an event, but
 * not always the first one, and never the command.
 * @param commands all commands of the replay
 * @param detail the SDK's message
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
  // If all commands agree, something else differs, such as a number that the SDK assigns. The last command is the
  // closest known location.
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
  /** Event id of the task's start, which commands refer to. */
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

/** Reads the event id from a message such as `HistoryEvent(id: 7, ActivityTaskScheduled)`. */
function eventIdIn(detail: string): number | undefined {
  const id = /HistoryEvent\(id: (\d+)/.exec(detail)?.[1];
  return id === undefined ? undefined : Number(id);
}

/** Returns the start of the task that issued the event's command. */
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

/** Who wrote a history, if the history says so. */
export interface WrittenBy {
  /** `temporal-typescript 1.24.0`; null if no worker has completed the first workflow task. */
  readonly sdk: string | null;
  /** The build id of the worker that last completed a workflow task. By default, it ends with a digest of the code. */
  readonly build: string | null;
  /** Worker deployment version, if workers are versioned: `media.2026-11-25`. */
  readonly deployment: string | null;
  /** The version of this package that started the workflow; null if another client started it. */
  readonly package: string | null;
}

/** Where the current code diverges from a history. */
export interface Divergence {
  /** The first event that the code does not produce; null if the code does something that the history does not have. */
  readonly event: ({ readonly eventId: number; readonly eventType: string } & CommandView) | null;
  /** What the code did instead; null if it did nothing. */
  readonly produced: CommandView | null;
  /** Where the code did that, or else where it issued the last matching command. Innermost first, empty if unknown. */
  readonly at: readonly SourceLocation[];
  /** Whether `at` is the location of `produced`, not of the command before it. */
  readonly atProduced: boolean;
  /** The SDK's message. */
  readonly detail: string;
}

/** A paid command with an input that differs from the history. */
export interface InputDifference {
  /** The event with the differing input. */
  readonly event: { readonly eventId: number; readonly eventType: string } & CommandView;
  /** Paths in its input, such as `request.prompt`, without their values. */
  readonly fields: readonly string[];
  /** Where the code issues the command. Innermost first, empty if unknown. */
  readonly at: readonly SourceLocation[];
}

/** How the replay of one run ended. */
export type Verdict =
  /** Every command in the history matches. */
  | { readonly verdict: 'identical'; readonly writtenBy: WrittenBy }
  /** The commands are the same, but some paid ones have different inputs, so the code would buy something else. */
  | {
      readonly verdict: 'inputs_differ';
      readonly writtenBy: WrittenBy;
      readonly differences: readonly InputDifference[];
    }
  | { readonly verdict: 'diverges'; readonly writtenBy: WrittenBy; readonly divergence: Divergence }
  /**
   * The code throws an error where the recorded workflow continued. A worker would retry the workflow task
   * indefinitely.
   */
  | {
      readonly verdict: 'fails';
      readonly writtenBy: WrittenBy;
      readonly message: string;
      readonly at: readonly SourceLocation[];
    }
  /**
   * Nothing to compare: another SDK wrote the history, the code has no such workflow, or the history has no completed
   * workflow task.
   */
  | {
      readonly verdict: 'not_replayed';
      readonly writtenBy: WrittenBy;
      readonly reason: 'other_sdk' | 'unknown_workflow' | 'not_started';
    };
