import { worstTone } from 'temporal-media/internal/domain/campaign/row';
import { formatMoney } from 'temporal-media/internal/domain/money';
import { ACTIVITY, SIGNAL } from 'temporal-media/internal/domain/names';
import { type Operation } from './operations';
import { moneyOf, withoutAnswer, workFacts } from './paid-entries';
import { type OpenEntry, type Story } from './story';
import { pauseOn } from './time-spent';
import { type Fact, type Tone, type SpentOn } from './timeline';
import { counted, type Fields, fieldsOf, listOf, numberOf, present, shownSpan } from './values';
import { campaignMoney } from './workflow-entries';

type Named = { readonly [name: string]: Fact };

/** Reads a campaign's plan, book and batches, and the messages between them. */
export class CampaignReader {
  /** The latest entry about each batch's reports, and the number of ended rows that it shows. */
  private readonly reports = new Map<
    string,
    { readonly entry: OpenEntry; readonly ended: number; count: number }
  >();
  private readonly phases: BatchPhases;
  private alarm: OpenEntry | undefined;
  private alarms = 0;

  constructor(private readonly story: Story) {
    this.phases = new BatchPhases(story);
  }

  /** Counts the time spent on rows, after everything has been read. */
  finish(): void {
    this.phases.finish();
  }

  plan(operation: Operation): void {
    const plan = fieldsOf(operation.result);
    const { shown } = this.story;
    const refused = fieldsOf(plan['refused']);
    const currency = shown.word(plan['currency']);
    const estimate = numberOf(plan['estimate']);
    const sum =
      estimate === null || currency === null ? null : formatMoney({ microUnits: estimate, currency });
    const planned = numberOf(plan['planned']) ?? 0;
    const reason = shown.word(refused['reason']);
    const facts = {
      ...present<Fact>({
        rows: numberOf(plan['rows']),
        planned,
        done: numberOf(plan['done']),
        left: numberOf(plan['left']),
        invalid: numberOf(plan['invalid']),
        pages: numberOf(plan['pages']),
        generation: numberOf(plan['generation']),
        estimate: sum,
        unpriced: numberOf(plan['unpriced']),
        refused: reason,
      }),
      ...workFacts(operation),
    };
    const isOver = operation.end === 'completed';
    const text = !isOver
      ? `Plan: ${withoutAnswer(operation).text}`
      : reason !== null
        ? `Plan refused (${reason}): nothing was sent`
        : `Planned ${counted(planned, 'row')}${sum === null ? '' : `, estimate ${sum}`}`;
    const tone: Tone = reason !== null ? 'bad' : isOver ? 'plain' : withoutAnswer(operation).tone;
    this.story.add({ kind: 'plan', tone, text, facts }, operation);
    if (estimate !== null && currency !== null)
      this.story.estimated(moneyOf({ microUnits: estimate, currency }));
  }

  book(operation: Operation): void {
    const input = fieldsOf(operation.input);
    const result = fieldsOf(operation.result);
    const move = fieldsOf(input['move']);
    const { shown } = this.story;
    const isSettle = operation.name === ACTIVITY.settleBatch;
    const isCount = operation.name === ACTIVITY.countBills;
    const what = isSettle ? 'settle' : isCount ? 'count' : (shown.word(move['do']) ?? 'move');
    const opened = listOf(result['opened']).flatMap((batch) => numberOf(batch) ?? []);
    const batch = numberOf(isSettle ? input['batch'] : move['batch']);
    const book = fieldsOf(result['book']);
    const trouble =
      result['unavailable'] !== undefined
        ? 'the journal is unavailable'
        : result['conflict'] === true
          ? "another run wrote to the campaign's book"
          : result['unsettled'] === true
            ? 'another run of the batch sent requests'
            : null;
    const facts = {
      ...present<Fact>({
        move: what,
        batch,
        opened: opened.length === 0 ? null : opened,
        granted: numberOf(move['want']),
        spent: numberOf(isSettle ? result['spent'] : move['spent']),
        budget: numberOf(input['budget']),
        closed: numberOf(book['closed']),
        openBatches: Array.isArray(book['open']) ? book['open'].length : null,
        entry: numberOf(result['n']),
        trouble,
      }),
      ...workFacts(operation),
    };
    const name = BOOK_MOVES[what] ?? `Book: ${what}`;
    const which =
      opened.length > 0
        ? ` ${opened.map((number) => `batch ${number}`).join(', ')}`
        : batch === null
          ? ''
          : ` batch ${batch}`;
    const isOver = operation.end === 'completed';
    const text = `${name}${which}${trouble === null ? '' : `: ${trouble}`}${isOver ? '' : `: ${withoutAnswer(operation).text}`}`;
    const tone = trouble !== null ? 'wait' : isOver ? 'plain' : withoutAnswer(operation).tone;
    this.story.add({ kind: 'book', tone, text, facts }, operation);
  }

  /** Reads a batch, as the campaign sees it. */
  batch(operation: Operation): void {
    const { shown } = this.story;
    const input = fieldsOf(operation.input);
    const number = numberOf(input['batch']);
    const size = listOf(input['rows']).reduce<number>(
      (sum, set) => sum + (numberOf(fieldsOf(set)['size']) ?? 0),
      0,
    );
    const result = fieldsOf(operation.result);
    const why = shown.word(result['why']);
    const report = fieldsOf(result['report']);
    this.phases.batch(operation, number, size);
    const facts: Named = present<Fact>({
      batch: number,
      workflowId: shown.id(operation.target?.workflowId),
      runId: shown.id(operation.target?.runId || null),
      rows: size,
      why,
      counts: this.counts(report),
      taken: numberOf(report['taken']),
      granted: numberOf(report['granted']),
      left: listOf(result['left']).length || null,
    });
    const counts = facts['counts'] === undefined ? '' : `, ${countText(facts['counts'])}`;
    const took = operation.endedAt === null ? '' : ` after ${shownSpan(operation.endedAt - operation.at)}`;
    const state =
      operation.end === 'open' || operation.end === 'dropped'
        ? 'is open'
        : operation.end === 'completed'
          ? `${(why ?? 'done').replace('_', ' ')}${took}${counts}`
          : `${operation.end.replace('_', ' ')}${took}`;
    const tone: Tone =
      operation.end === 'completed'
        ? why === 'closed'
          ? 'bad'
          : worstTone(Object.keys(fieldsOf(facts['counts'])))
        : operation.end === 'open' || operation.end === 'dropped'
          ? 'plain'
          : 'bad';
    this.story.add(
      { kind: 'batch', tone, text: `Batch ${number} (${counted(size, 'row')}): ${state}`, facts },
      operation,
    );
  }

  orders(operation: Operation): void {
    const orders = fieldsOf(operation.input);
    const to = operation.kind === 'sent_signal' ? batchOf(operation.target?.workflowId) : null;
    const stop = this.story.shown.word(orders['stop']);
    const flags = [
      orders['handBack'] === true ? 'hand back' : '',
      orders['paused'] === true ? 'paused' : '',
      stop === null ? '' : `stop (${stop})`,
    ].filter((flag) => flag !== '');
    const granted = numberOf(orders['granted']);
    const facts: Named = present<Fact>({
      batch: to,
      slots: numberOf(orders['slots']),
      granted,
      paused: orders['paused'] === true ? true : null,
      stop,
      handBack: orders['handBack'] === true ? true : null,
      createsPerSecond: numberOf(orders['createsPerSecond']),
    });
    const isUndelivered = operation.end === 'failed';
    const name = to === null ? 'Orders from the campaign' : `Orders to batch ${to}`;
    const text = `${name}: ${counted(numberOf(orders['slots']) ?? 0, 'slot')}${flags.length === 0 ? '' : `, ${flags.join(', ')}`}${isUndelivered ? '; the batch was closed' : ''}`;
    this.story.add({ kind: 'orders', tone: isUndelivered ? 'wait' : 'plain', text, facts }, operation);
  }

  /** Reads a report. Consecutive reports with the same number of ended rows share one entry. */
  report(operation: Operation): void {
    const report = fieldsOf(operation.input);
    const batch = numberOf(report['batch']);
    const isSent = operation.kind === 'sent_signal';
    const ended = listOf(report['ended']).reduce<number>(
      (sum, set) => sum + (numberOf(fieldsOf(set)['size']) ?? 0),
      0,
    );
    const place = `${operation.run}/${batch}`;
    const held = fieldsOf(report['held']);
    this.phases.report(operation, report);
    const facts: Named = present<Fact>({
      batch,
      ended,
      inFlight: numberOf(report['inFlight']),
      settling: numberOf(report['settling']),
      waiting: numberOf(report['waiting']),
      granted: numberOf(report['granted']),
      taken: numberOf(report['taken']),
      counts: this.counts(report),
      heldBecause: this.story.shown.word(held['reason']),
    });
    if (isSent) campaignMoney(fieldsOf(report['results'])['money'], null, this.story);
    let last = this.reports.get(place);
    if (last === undefined || last.ended !== ended) {
      const entry = this.story.add({ kind: 'report', text: '', facts }, operation);
      last = { entry, ended, count: 1 };
      this.reports.set(place, last);
    } else {
      last.count += 1;
      last.entry.add(operation);
    }
    const times = last.count === 1 ? 'Report' : `${last.count} reports`;
    const counts = facts['counts'] === undefined ? '' : ` (${countText(facts['counts'])})`;
    const lost = operation.end === 'failed' ? '; the campaign no longer existed' : '';
    const text = `${times} from batch ${batch}: ${counted(ended, 'row')} ended${counts}, ${numberOf(report['inFlight']) ?? 0} in flight, ${numberOf(report['waiting']) ?? 0} waiting${lost}`;
    last.entry.say({ text, tone: operation.end === 'failed' ? 'bad' : 'plain', facts });
  }

  /** Reads a timer that wakes a loop. One run's timers share one entry. */
  check(operation: Operation): void {
    if (this.alarm === undefined || this.alarm.order()[0] !== operation.run) {
      this.alarms = 0;
      this.alarm = this.story.add({ kind: 'alarm', text: '' }, operation);
    } else this.alarm.add(operation);
    this.alarms += 1;
    this.alarm.say({
      text: `${counted(this.alarms, 'timer')} for the next check`,
      facts: { timers: this.alarms },
    });
  }

  private counts(report: { readonly [name: string]: unknown }): Fact | null {
    const counts = Object.entries(fieldsOf(fieldsOf(report['results'])['counts']));
    if (counts.length === 0) return null;
    return Object.fromEntries(
      counts.map(([name, count]) => [this.story.shown.word(name) ?? '', numberOf(count) ?? 0]),
    );
  }
}

const BOOK_MOVES: { readonly [move: string]: string } = {
  look: 'Book read',
  open: 'Book: opened',
  raise: 'Book: raised the limit for',
  close: 'Book: closed',
  settle: 'Calculated spending from the journal for',
  count: 'Counted the bills',
  bill: 'Book: changed by bills',
};

/** Whether a campaign and its batches exchange this signal. */
export const isCampaignSignal = (name: string): boolean =>
  name === SIGNAL.campaignOrders || name === SIGNAL.campaignReport;

const countText = (counts: Fact | undefined): string =>
  Object.entries(fieldsOf(counts))
    .map(([name, count]) => `${String(count)} ${name.replaceAll('_', ' ')}`)
    .join(', ');

const batchOf = (workflowId: string | undefined): number | null => {
  const found = /\/batch\/(\d+)$/.exec(workflowId ?? '')?.[1];
  return found === undefined ? null : Number(found);
};

/**
 * Number of rows in a batch, by what they are doing or waiting for. `at` is the start time, in milliseconds since 1970.
 */
interface Counted {
  readonly at: number;
  readonly rows: readonly (readonly [on: SpentOn, rows: number])[];
}

interface ReportedBatch {
  readonly states: Counted[];
  /** When the batch ended; null while it is open. */
  until: number | null;
}

/**
 * Measures how a campaign and its batches spend their time, from the row phases in the batches' reports. Each report
 * applies until the next one.
 */
class BatchPhases {
  private readonly batches = new Map<number | null, ReportedBatch>();

  constructor(private readonly story: Story) {}

  /** Adds a batch as its campaign sees it. Until its first report, the phases of its rows are unknown. */
  batch({ at, end, endedAt }: Operation, batch: number | null, rows: number): void {
    const of = this.of(batch);
    of.states.push({ at, rows: [['waiting_for_children', Math.max(1, rows)]] });
    // A batch outlives its campaign's runs: the next run receives its reports.
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

/** What each row phase counts as. */
const PHASES: { readonly [phase: string]: SpentOn } = {
  creating: 'creating',
  generating: 'creating',
  watching: 'waiting_for_polls',
  downloading: 'downloading',
};

/** A report lists the phases of only a few rows in flight. The other rows are assumed to be similar. */
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
