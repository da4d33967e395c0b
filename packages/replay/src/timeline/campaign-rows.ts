import { failureKind, outcomeWords } from 'temporal-media/internal/domain/campaign/row';
import { mayHaveAnotherAttempt } from 'temporal-media/internal/domain/campaign/row-result';
import { type Operation } from './operations';
import { type AnswerSaid } from './paid-entries';
import { type TaskAnswer } from './poll-entries';
import { type NoAttempt, type TimelineRow, type Tone } from './timeline';
import { type Fields, fieldsOf, listOf, numberOf, type Shown, textOf, timeOf } from './values';

type OpenRow = { -readonly [field in keyof TimelineRow]: TimelineRow[field] };

/** Assembles a batch's rows from its pages, creates, polls and results. */
export class RowReader {
  private readonly rows = new Map<string, OpenRow>();
  /** Row keys by page and index. */
  private readonly places = new Map<string, string>();
  private readonly tasks = new Map<string, OpenRow>();
  /** The number of each row's first attempt in this batch's plan. */
  private readonly firstAttempts = new Map<string, number>();
  private readonly batch: number | null;
  private readonly maxAttempts: number | null;
  private stop: string | null = null;

  /** @param input the batch's input */
  constructor(
    private readonly shown: Shown,
    input: Fields,
  ) {
    this.batch = numberOf(input['batch']);
    this.maxAttempts = numberOf(fieldsOf(input['settings'])['maxAttempts']);
    this.ordered(fieldsOf(input['orders']));
  }

  /** Reads the campaign's orders to the batch. */
  ordered(orders: Fields): void {
    this.stop = textOf(orders['stop']);
  }

  all(): readonly TimelineRow[] {
    return [...this.rows.values()];
  }

  /** Reads a result of `media.openPage`. */
  opened(input: Fields, page: Fields): void {
    const specs = listOf(page['specs']);
    listOf(page['rows']).forEach((found, index) => {
      const row = fieldsOf(found);
      const key = this.shown.id(row['key']);
      if (key === null) return;
      this.places.set(placeOf(input['index'], input['page'], index), key);
      this.firstAttempts.set(key, numberOf(row['attempt']) ?? 0);
      const spec = fieldsOf(specs[numberOf(row['spec']) ?? 0]);
      this.row(key, {
        line: numberOf(row['line']),
        model: this.shown.word(spec['model']),
        cost: numberOf(spec['estimate']),
      });
    });
    for (const pair of listOf(page['created'])) {
      const [index, created] = listOf(pair);
      const key = this.places.get(placeOf(input['index'], input['page'], numberOf(index) ?? -1));
      if (key !== undefined) this.created({ page: input, index }, undefined, null, created);
    }
  }

  /** Returns the key of the row that a create or an image call identifies by page and index. */
  keyOf(asked: unknown): string | null {
    const { page, index } = fieldsOf(asked);
    const address = fieldsOf(page);
    return this.places.get(placeOf(address['index'], address['page'], numberOf(index) ?? -1)) ?? null;
  }

  /** @param known a video that was bought earlier; `said` is then undefined */
  created(asked: unknown, said: AnswerSaid | undefined, operation: Operation | null, known?: unknown): void {
    const key = this.keyOf(asked);
    if (key === null) return;
    const row = this.row(key, {});
    if (operation !== null) {
      row.startedAt ??= new Date(operation.at).toISOString();
      row.creates += 1;
    }
    const taskId =
      said === undefined
        ? this.shown.id(fieldsOf(fieldsOf(known)['video'])['taskId'])
        : (textOf(said.facts['taskId']) ?? null);
    if (said !== undefined) {
      row.state = said.outcome === 'created' ? 'created' : said.outcome;
      row.tone = said.outcome === 'created' ? 'plain' : said.tone;
      row.reason = textOf(said.facts['cause']) ?? textOf(said.facts['reason']);
      row.kind = textOf(said.facts['kind']);
      row.code = textOf(said.facts['code']);
    }
    if (taskId === null) return;
    row.taskId = taskId;
    row.createdAt ??=
      said === undefined
        ? timeOf(fieldsOf(fieldsOf(known)['video'])['createdAt'])
        : operation === null
          ? null
          : new Date(operation.until).toISOString();
    this.tasks.set(taskId, row);
  }

  image(asked: unknown, outcome: string | null, operation: Operation): void {
    const key = this.keyOf(asked);
    if (key === null) return;
    const row = this.row(key, {});
    row.startedAt ??= new Date(operation.at).toISOString();
    row.creates += 1;
    row.state = outcome ?? (operation.end === 'open' ? 'generating' : operation.end);
  }

  /** Reads one task's answer in a tick. */
  polled({ taskId, record, error, facts }: TaskAnswer): void {
    const id = this.shown.id(taskId);
    const row = id === null ? undefined : this.tasks.get(id);
    if (row === undefined || row.finishedAt !== null) return;
    row.polls += 1;
    if (record?.status) row.state = record.status;
    if (error !== null) row.reason = error;
    row.kind = textOf(facts['kind']) ?? row.kind;
    row.code = textOf(facts['code']) ?? row.code;
  }

  /** Reads a result as passed to `media.recordRows`. */
  ended(result: Fields): void {
    const key = this.shown.id(result['key']);
    if (key === null) return;
    const row = this.row(key, {});
    const outcome = this.shown.word(result['outcome']) ?? 'ended';
    const attempts = listOf(result['ledger']).map(fieldsOf);
    const costs = attempts
      .filter(({ state }) => state !== 'none')
      .map(({ estimate, actual }) => numberOf(actual) ?? numberOf(estimate));
    Object.assign(row, {
      line: numberOf(result['line']) ?? row.line,
      state: outcome,
      tone: outcomeWords(outcome).tone,
      model: this.shown.word(result['model']) ?? row.model,
      taskId: this.shown.id(result['taskId']) ?? row.taskId,
      creates: Math.max(row.creates, attempts.length),
      polls: numberOf(result['polls']) || row.polls,
      startedAt: timeOf(result['startedAt']) ?? row.startedAt,
      createdAt: timeOf(result['createdAt']) ?? row.createdAt,
      finishedAt: timeOf(result['finishedAt']),
      reason: this.shown.word(result['reason']) ?? this.shown.word(result['errorKind']),
      kind: failureKind({
        outcome,
        reason: this.shown.word(result['reason']),
        errorKind: this.shown.word(result['errorKind']),
      }),
      code:
        outcome === 'failed' ? this.shown.word(result['reason']) : outcome === 'rejected' ? row.code : null,
      noAttempt: this.noAttempt(key, outcome, result),
      cost: costs.includes(null) ? null : costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0),
    } satisfies Partial<TimelineRow>);
  }

  private noAttempt(key: string, outcome: string, result: Fields): NoAttempt | null {
    if (outcome === 'skipped_budget') return 'budget';
    const [reason, errorKind] = [textOf(result['reason']), textOf(result['errorKind'])];
    if (!mayHaveAnotherAttempt({ outcome, reason, errorKind })) return null;
    const made = (numberOf(result['attempt']) ?? 0) - (this.firstAttempts.get(key) ?? 0) + 1;
    if (this.maxAttempts !== null && made >= this.maxAttempts) return 'attempts';
    return this.stop === 'budget' ? 'budget' : this.stop === 'cancel' ? 'cancelled' : null;
  }

  private row(key: string, known: Partial<TimelineRow>): OpenRow {
    const row = this.rows.get(key) ?? {
      key,
      line: null,
      batch: this.batch,
      state: 'waiting',
      tone: 'plain' as Tone,
      model: null,
      taskId: null,
      creates: 0,
      polls: 0,
      startedAt: null,
      createdAt: null,
      finishedAt: null,
      reason: null,
      kind: null,
      code: null,
      noAttempt: null,
      cost: null,
    };
    this.rows.set(key, Object.assign(row, known));
    return row;
  }
}

/**
 * Returns the reason a row is not completed: the kind with the code in parentheses, and why it got no further attempt.
 * Null if neither applies.
 */
export function rowCause({ state, reason, kind, code, noAttempt, creates }: TimelineRow): string | null {
  const name = kind === null || kind === 'unknown' ? reason : kind;
  const detail = [code, reason].find((word) => word !== null && word !== name && word !== state);
  const cause = name === null || name === state ? null : `${name}${detail ? ` (${detail})` : ''}`;
  const attempt =
    noAttempt === null ? null : `no ${creates > 0 ? 'further ' : ''}attempt: ${NO_ATTEMPT[noAttempt]}`;
  const parts = [cause, attempt].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join(', ');
}

const NO_ATTEMPT: { readonly [why in NoAttempt]: string } = {
  budget: 'the budget is spent',
  attempts: 'the maximum was reached',
  cancelled: 'the campaign was canceled',
};

/** Returns one row per key, with the state from the last batch that worked on it. */
export function joinedRows(rows: readonly TimelineRow[]): readonly TimelineRow[] {
  const joined = new Map<string, TimelineRow>();
  for (const row of rows) {
    const before = joined.get(row.key);
    const known =
      before === undefined
        ? row
        : { ...row, startedAt: before.startedAt ?? row.startedAt, polls: before.polls + row.polls };
    // A batch that handed back a row knows less about it than the batch that finished it.
    const isOlder = before?.finishedAt != null && row.finishedAt === null;
    joined.set(row.key, isOlder ? before : known);
  }
  return [...joined.values()];
}

/** @param index hash of the plan's index */
const placeOf = (index: unknown, page: unknown, row: number): string =>
  `${textOf(index)}/${numberOf(page)}/${row}`;
