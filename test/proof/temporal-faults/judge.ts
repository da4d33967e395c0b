import { promptHash } from '../../../packages/sandbox/src';
import { eventually } from '../../support/eventually';
import { promptOf, type Cell } from './cell';
import { commandsOf, goldenCommands } from './commands';
import { type Outcome } from './paid-kinds';
import { type Schedule, type Seen } from './schedule';

/** What one schedule came to, counted at the service and in the journal. */
export interface Judgement extends Seen {
  /** Accepted beyond one per authorisation. */
  readonly beyond: number;
  /** Tasks whose reply was delivered and that the journal does not find by their id, whoever else names them. */
  readonly lost: readonly string[];
  /** Sends that came before the time that the service had asked for. */
  readonly early: number;
  /** Tasks and files in outcomes that belong to another request. */
  readonly foreign: readonly string[];
  readonly commands?: readonly string[];
}

/** Hash of a result → prompt that it was made for; every prompt gives other bytes. */
export type Results = Map<string, string>;

export async function judge(
  cell: Cell,
  schedule: Schedule,
  outcomes: readonly Outcome[],
  results: Results,
): Promise<Judgement> {
  const accepted = await acceptedOf(cell);
  const words = outcomes.map(({ outcome }) => outcome);
  const { expected, keys = 1, commands } = schedule;
  const same = typeof expected.outcomes === 'string' && words.every((word) => word === expected.outcomes);
  return {
    sends: await cell.sends('fresh'),
    accepted,
    outcomes: same ? expected.outcomes : words,
    beyond: Math.max(0, accepted - keys),
    lost: await lostIds(cell),
    early: await earlySends(cell),
    foreign: await foreignResults(cell, outcomes, results),
    ...(commands !== undefined && { commands: await lastCommands(cell) }),
  };
}

/** What it must have come to. */
export function expectedOf(cell: Cell, { expected, commands }: Schedule): Judgement {
  return {
    ...expected,
    beyond: 0,
    lost: [],
    early: 0,
    foreign: [],
    ...(commands !== undefined && { commands: expectedCommands(cell, commands) }),
  };
}

export async function acceptedOf(cell: Cell): Promise<number> {
  const { acceptedByPromptHash } = await cell.bench.stack.sandbox.admin.counters();
  return acceptedByPromptHash[promptHash(cell.prompt)] ?? 0;
}

async function lostIds(cell: Cell): Promise<readonly string[]> {
  const ids = await cell.taskIds();
  const delivered = (await cell.bench.requests()).filter(
    (request) => promptOf(request) === cell.prompt && request.accepted && request.finished === 'sent',
  );
  // Where a reply was cut off nobody can know its id: such a create must end as unconfirmed instead.
  if (delivered.length < ids.length) return [];
  const lost = await Promise.all(
    ids.map(async (id) => {
      // A sender that outlived its workflow writes the record a moment after the reply.
      const found = await eventually(
        'the record',
        async () => (await cell.bench.journal.findTask(id)).length > 0,
        10_000,
      ).catch(() => false);
      return found ? undefined : id;
    }),
  );
  return lost.filter((id) => id !== undefined);
}

async function earlySends(cell: Cell): Promise<number> {
  const seconds = /\[http:429:(\d+)\]/.exec(cell.prompt)?.[1];
  if (seconds === undefined) return 0;
  const times = (await cell.bench.requests())
    .filter((request) => promptOf(request) === cell.prompt)
    .map(({ at }) => at);
  return times.slice(1).filter((at) => at < (times[0] ?? 0) + Number(seconds) * 1000).length;
}

const taskOf = (outcome: Outcome): string | undefined =>
  'video' in outcome ? outcome.video?.taskId : undefined;

async function foreignResults(
  cell: Cell,
  outcomes: readonly Outcome[],
  results: Results,
): Promise<readonly string[]> {
  const own = new Set(await cell.taskIds());
  const tasks = outcomes.map(taskOf).filter((id) => id !== undefined && !own.has(id));
  const files = outcomes.flatMap((outcome) => {
    if (outcome.outcome !== 'completed') return [];
    return 'images' in outcome ? outcome.images.map(({ sha256 }) => sha256) : [outcome.artifact.sha256];
  });
  const taken = files.filter((sha256) => (results.get(sha256) ?? cell.prompt) !== cell.prompt);
  for (const sha256 of files) results.set(sha256, cell.prompt);
  return [...tasks, ...taken].map(String);
}

async function lastCommands(cell: Cell): Promise<readonly string[]> {
  const last = cell.ended.at(-1);
  if (last === undefined) return ['no run of a workflow of the package'];
  return commandsOf((await last.handle.fetchHistory()).events ?? []);
}

/** The golden ones; a reconciliation comes right after the timer of the create is cancelled. */
function expectedCommands(cell: Cell, commands: 'golden' | 'reconciled'): readonly string[] {
  const golden = goldenCommands(cell.kind.golden);
  if (commands === 'golden') return golden;
  const at = golden.indexOf('cancel a timer') + 1;
  return [...golden.slice(0, at), 'media.reconcileCreate', ...golden.slice(at)];
}
