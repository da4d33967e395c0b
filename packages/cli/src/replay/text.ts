import { relative } from 'node:path';
import {
  type CommandView,
  type Divergence,
  type LoadedRun,
  type SourceLocation,
  type UnloadedTarget,
  type Verdict,
  type WrittenBy,
} from '@temporal-media/replay';
import { hanging } from '@temporal-media/replay/internal/timeline/values';
import { failureOf, withoutSecrets } from '../shared/errors';
import { type CommandErrorType, errorType } from '../shared/exit-codes';
import { type Paint } from '../shared/report';
import { type ReplayOptions } from './options';
import { type TargetReport } from './target-report';

type Count = Verdict['verdict'] | 'unreadable';

/** Counts verdicts and decides the command's error. */
export class ReplaySummary {
  readonly #counts: Record<Count, number> = {
    identical: 0,
    inputs_differ: 0,
    diverges: 0,
    fails: 0,
    not_replayed: 0,
    unreadable: 0,
  };
  #events = 0;
  #unread: CommandErrorType | undefined;
  #missing = false;
  readonly #startedAt = performance.now();

  /**
   * @param of whether the user named the workflows, in which case each one must replay, and whether inputs must be the
   * same
   */
  constructor(private readonly of: { readonly named: boolean; readonly strictInputs: boolean }) {}

  add(target: TargetReport | UnloadedTarget): void {
    if ('error' in target) {
      if (target.error.code === 'no_history') return;
      this.#counts.unreadable += 1;
      this.#unread ??= failureOf(target.error).reply.type as CommandErrorType;
      return;
    }
    for (const { verdict, events } of target.runs) {
      this.#events += events;
      this.#counts[verdict.verdict] += 1;
      // The namespace may also contain other teams' workflows.
      if (verdict.verdict === 'not_replayed' && verdict.reason !== 'not_started') this.#missing = true;
    }
  }

  get runs(): number {
    return Object.values(this.#counts).reduce((sum, count) => sum + count, 0);
  }

  differs(): boolean {
    const inputs = this.of.strictInputs ? this.#counts.inputs_differ : 0;
    return this.#counts.diverges + this.#counts.fails + inputs > 0;
  }

  inputsDiffer(): boolean {
    return this.#counts.inputs_differ > 0;
  }

  failure(): CommandErrorType | undefined {
    if (this.differs() || (this.of.named && this.#missing)) return 'replay_differs';
    return this.#unread;
  }

  /** Explains in one sentence why the replay failed. */
  message(type: CommandErrorType): string {
    return type === 'replay_differs' && !this.differs()
      ? `${this.#counts.not_replayed} histories were not replayed because the current code does not contain their workflow or another SDK wrote them.`
      : errorType(type).meaning;
  }

  counts(): object {
    return {
      ...this.#counts,
      runs: this.runs,
      events: this.#events,
      seconds: Math.round((performance.now() - this.#startedAt) / 100) / 10,
    };
  }

  line(): string {
    const words = Object.entries(this.#counts)
      .filter(([, count]) => count > 0)
      .map(([what, count]) => `${count.toLocaleString('en-US')} ${what.replace('_', ' ')}`);
    const seconds = ((performance.now() - this.#startedAt) / 1000).toFixed(1);
    return `${words.join(', ') || 'no histories'}: ${this.#events.toLocaleString('en-US')} events in ${seconds} s`;
  }
}

/** Maximum number of stack frames shown. */
const PLACES = 3;

const REASONS = {
  other_sdk: 'written by another SDK, so TypeScript code cannot replay it',
  unknown_workflow:
    'the current code has no workflow of this type; pass yours with --workflows-path or --bundle',
  not_started: 'no worker has completed one of its workflow tasks yet',
} as const;

const COMPARED =
  "A replay compares commands and the inputs of this package's paid calls. It does not compare the inputs of your own activities.";

const RESETS =
  'If you reset a workflow and its request has changed, it ends with creation_key_conflict, because its id has already bought the old request.';

const OPTIONS = [
  'Options: revert the change;',
  '  or keep the old path for running workflows, with `if (patched("ID")) … else …` around the changed code;',
  '  or deploy the workers as a new version with pinned workflows (docs/operations.md#new-versions).',
];

/** Describes the verdict about a run. */
export function verdictLines(
  run: Pick<LoadedRun, 'workflowType' | 'workflowId' | 'source'>,
  verdict: Verdict,
  paint: Paint,
): readonly string[] {
  const name = `${run.workflowType} ${run.workflowId}${run.source === 'server' ? '' : ` (${run.source})`}`;
  switch (verdict.verdict) {
    case 'identical':
      return [`${paint('good', 'identical')}  ${name}: the current code issues the same commands.`];
    case 'inputs_differ':
      return [
        `${paint('warn', 'inputs differ')}  ${name}: the current code issues the same commands but buys something different.`,
        ...verdict.differences.flatMap(({ event, fields, at }) => [
          `  event ${event.eventId}, ${event.eventType}: ${withoutSecrets(viewText(event))}: ${fields.join(', ')}`,
          ...placesOf(at, 'at'),
        ]),
        ...writer(verdict.writtenBy),
      ];
    case 'not_replayed':
      return [`${paint('warn', 'not replayed')}  ${name}: ${REASONS[verdict.reason]}.`];
    case 'fails':
      return [
        `${paint('bad', 'fails')}  ${name}: the current code throws where the workflow continued.`,
        `  error: ${withoutSecrets(verdict.message)}`,
        ...placesOf(verdict.at, 'at'),
        ...writer(verdict.writtenBy),
      ];
    case 'diverges':
      return [
        `${paint('bad', 'diverges')}  ${name}`,
        ...divergenceLines(verdict.divergence),
        ...writer(verdict.writtenBy),
      ];
  }
}

function divergenceLines({ event, produced, at, atProduced, detail }: Divergence): readonly string[] {
  const expected =
    event === null
      ? 'nothing more in this workflow task'
      : `event ${event.eventId}, ${event.eventType}: ${viewText(event)}`;
  return [
    `  the history: ${withoutSecrets(expected)}`,
    `  the code:    ${produced === null ? 'no command' : withoutSecrets(viewText(produced))}`,
    ...placesOf(at, atProduced ? 'at' : 'last command before it at'),
    `  the SDK error: ${withoutSecrets(detail)}`,
  ];
}

function placesOf(places: readonly SourceLocation[], word: string): readonly string[] {
  return places
    .slice(0, PLACES)
    .map((place, index) => `  ${index === 0 ? word : '  called from'} ${placeText(place)}`);
}

function placeText({ file, line, column, in: inside }: SourceLocation): string {
  const near = relative(process.cwd(), file);
  const shown = file.startsWith('/') && !near.startsWith('..') ? near : file;
  return `${shown}:${line}:${column}${inside === null ? '' : ` (${inside})`}`;
}

function writer({ sdk, build, deployment, package: version }: WrittenBy): readonly string[] {
  const who = [
    sdk ?? 'an unknown SDK',
    ...(version === null ? [] : [`started by temporal-media ${version}`]),
    ...(deployment === null ? [] : [`deployment version ${deployment}`]),
    ...(build === null ? [] : [`build ${build.length > 60 ? `${build.slice(0, 50)}…` : build}`]),
  ];
  return [`  written by: ${who.join(', ')}`];
}

/** Returns the notes to print after a command's verdicts: those that apply, or all of them with `--verbose`. */
export function closingLines(
  summary: Pick<ReplaySummary, 'differs' | 'inputsDiffer'>,
  { verbose = false, workflowsPath, bundle }: Pick<ReplayOptions, 'verbose' | 'workflowsPath' | 'bundle'>,
): readonly string[] {
  const isOwnCode = workflowsPath !== undefined || bundle !== undefined;
  return [
    ...(verbose || summary.differs() ? OPTIONS : []),
    ...(verbose || isOwnCode ? [COMPARED] : []),
    ...(verbose || summary.inputsDiffer() ? [RESETS] : []),
  ];
}

/** Wraps a line at spaces to this many columns, keeping its indentation. */
export function wrapped(line: string, width: number): readonly string[] {
  const indent = /^ */.exec(line)?.[0] ?? '';
  const [first = '', ...rest] = hanging(indent, line.slice(indent.length), width);
  const below =
    rest.length === 0 ? [] : hanging(`${indent}  `, rest.map((part) => part.trim()).join(' '), width);
  return [first, ...below];
}

/** `activity media.pollVideos "poll 1"`. */
function viewText({ kind, name, id, summary, ms }: CommandView): string {
  const what = [
    kind,
    ...(name === null ? [] : [name]),
    ...(id === undefined ? [] : [id]),
    ...(ms === undefined ? [] : [`of ${ms / 1000} s`]),
  ].join(' ');
  return summary === null ? what : `${what} (${JSON.stringify(summary)})`;
}
