import { MUTANTS } from './mutants';
import { CHECKED, runSchedule, type ScheduleReport, type Violation } from './run-schedule';
import { installVirtualGlobals } from './virtual-globals';
import { type Mutant } from './world';

/** What one thread is to do: the seeds `from`, `from + step`, … below `below`. */
export interface ManyInput {
  readonly from: number;
  readonly below: number;
  readonly step: number;
  /** Instead of counting: for every rule that is broken on purpose, the first seed that shows it. */
  readonly mutants?: true;
  readonly traced?: boolean;
}

export interface ManyResult {
  readonly counts: Readonly<Record<string, number>>;
  /** By invariant, the first seeds that break it. */
  readonly broken: readonly (Violation & { readonly seed: number })[];
  readonly trace: readonly string[];
  /** Name of a mutant → schedules that it took to find it, null when none did. */
  readonly found: Readonly<Record<string, number | null>>;
}

/** Turns of the event loop are rare: a schedule needs none. */
const SCHEDULES_PER_TURN = 500;
const MOST_KEPT = 1000;

export async function runMany(input: ManyInput): Promise<ManyResult> {
  const counts: Record<string, number> = Object.fromEntries(CHECKED.map((name) => [name, 0]));
  const broken: (Violation & { readonly seed: number })[] = [];
  const trace: string[] = [];
  const found: Record<string, number | null> = {};
  const restore = installVirtualGlobals();
  try {
    if (input.mutants === true) {
      for (const mutant of MUTANTS) found[mutant.name] = await firstSeed(mutant, input);
      return { counts, broken, trace, found };
    }
    for (let seed = input.from, done = 0; seed < input.below; seed += input.step, done += 1) {
      const report = await runSchedule(seed, { traced: input.traced === true });
      add(counts, report);
      if (report.trace !== undefined) trace.push(...report.trace);
      for (const violation of report.violations)
        if (broken.length < MOST_KEPT) broken.push({ seed, ...violation });
      if (done % SCHEDULES_PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  } finally {
    restore();
  }
  return { counts, broken, trace, found };
}

async function firstSeed(mutant: Mutant, { from, below, step }: ManyInput): Promise<number | null> {
  for (let seed = from; seed < below; seed += step) {
    const { violations } = await runSchedule(seed, { mutant });
    if (violations.some(({ invariant }) => invariant === mutant.breaks)) return 1 + (seed - from) / step;
  }
  return null;
}

function add(counts: Record<string, number>, { observations, events, violations }: ScheduleReport): void {
  const more: Record<string, number> = {
    schedules: 1,
    events,
    kills: observations.kills,
    'processes stopped and continued': observations.freezes,
    'calls without a workflow': observations.standalone,
    'journal faults': observations.journalFaults,
    'heartbeats lost, late or unanswered': observations.beatFaults,
    'journals lost': observations.journals.lost,
    'journals restored': observations.journals.restored,
    'journals rebound': observations.journals.rebound,
    'calls kept in the next journal': observations.kept,
    'completions that came too late': observations.lateCompletions,
    sends: observations.sends.length,
    accepted: observations.accepted.length,
    authorisations: observations.authorised.length,
    'decisions to adopt or to give up': observations.decided.size,
    'answers to callers': observations.told.length,
    'told unconfirmed': observations.told.filter(({ answer }) => answer.outcome === 'unconfirmed').length,
    'recovered from the journal': observations.recovered,
  };
  for (const { invariant } of violations) more[invariant] = (more[invariant] ?? 0) + 1;
  for (const [what, count] of Object.entries(more)) counts[what] = (counts[what] ?? 0) + count;
}
