import { type Operation } from './operations';
import { fieldsOf, type Fields, listOf, numberOf } from './read-value';
import { type Story } from './story';
import { pauseOn } from './time-spent';
import { type SpentOn } from './timeline';

/** Rows of a batch by what they do or await, from one moment on, in milliseconds since 1970. */
interface Counted {
  readonly at: number;
  readonly rows: readonly (readonly [on: SpentOn, rows: number])[];
}

interface ReportedBatch {
  readonly states: Counted[];
  /** When the batch was over; null while it is open. */
  until: number | null;
}

/**
 * What the time of a campaign and of its batches is made of: the phases of their rows, as the reports of the batches count
 * them. What a report says holds until the next one.
 */
export class BatchPhases {
  private readonly batches = new Map<number | null, ReportedBatch>();

  constructor(private readonly story: Story) {}

  /** A batch as its campaign sees it: before its first report nothing is known of its rows. */
  batch({ at, end, endedAt }: Operation, batch: number | null, rows: number): void {
    const of = this.of(batch);
    of.states.push({ at, rows: [['waiting_for_children', Math.max(1, rows)]] });
    // A batch outlives the runs of its campaign: the next one hears its reports.
    of.until = end === 'dropped' ? null : endedAt;
  }

  report({ at }: Operation, report: Fields): void {
    this.of(numberOf(report['batch'])).states.push({ at, rows: phasesOf(report) });
  }

  finish(): void {
    for (const { states, until } of this.batches.values())
      states.forEach(({ at, rows }, index) => {
        const next = states[index + 1]?.at ?? Infinity;
        const to = Math.min(next, Math.max(at, until ?? this.story.lastAt));
        for (const [on, count] of rows) this.story.spans.push({ from: at, to, on, rows: count });
      });
  }

  private of(batch: number | null): ReportedBatch {
    const known = this.batches.get(batch) ?? { states: [], until: null };
    this.batches.set(batch, known);
    return known;
  }
}

/** Of the phases of rows in the domain. */
const PHASES: { readonly [phase: string]: SpentOn } = {
  creating: 'creating',
  generating: 'creating',
  watching: 'waiting_for_polls',
  downloading: 'downloading',
};

/** A report names the phase of a few rows that are in flight: the others are taken to be like them. */
function phasesOf(report: Fields): readonly (readonly [on: SpentOn, rows: number])[] {
  const count = (name: string): number => Math.max(0, numberOf(report[name]) ?? 0);
  const inFlight = count('inFlight');
  const sample = listOf(report['sample']).flatMap((row) => PHASES[String(fieldsOf(row)['phase'])] ?? []);
  const active: readonly SpentOn[] = sample.length === 0 ? ['waiting_for_polls'] : sample;
  const shares = active.map((on, index) => {
    const upTo = (rows: number): number => Math.floor((rows * inFlight) / active.length);
    return [on, upTo(index + 1) - upTo(index)] as const;
  });
  const phases = [
    ...shares,
    [waitsFor(report), count('waiting')] as const,
    ['bookkeeping', Math.max(0, count('settling') - inFlight)] as const,
  ].filter(([, rows]) => rows > 0);
  return phases.length === 0 ? [['waiting_for_children', 1]] : phases;
}

function waitsFor(report: Fields): SpentOn {
  const held = report['held'];
  if (held !== null && held !== undefined) return pauseOn(fieldsOf(held)['reason']);
  return report['needs'] === null || report['needs'] === undefined ? 'waiting_for_slot' : 'waiting_for_money';
}
