import { ACTIVITY } from 'temporal-media/internal/domain/names';
import { type RowReader } from './campaign-rows';
import { type Operation } from './operations';
import { answerSaid, moneyOf, withoutAnswer, workFacts } from './paid-entries';
import { type Story } from './story';
import { type Fact, type Tone } from './timeline';
import { counted, fieldsOf, listOf, numberOf, present } from './values';

/** Reads what a batch does for its rows: pages, creates, image calls and results. */
export class BatchReader {
  constructor(
    private readonly story: Story,
    private readonly rows: RowReader,
  ) {}

  page(operation: Operation): void {
    const input = fieldsOf(operation.input);
    const result = fieldsOf(operation.result);
    this.rows.opened(input, result);
    const rows = listOf(result['rows']).filter((row) => row !== null).length;
    const started = listOf(result['created']).length;
    const isClosed = result['closed'] === true;
    const isOver = operation.end === 'completed';
    const facts = {
      ...present<Fact>({
        page: numberOf(input['page']),
        rows,
        boughtBefore: started === 0 ? null : started,
        closed: isClosed ? true : null,
      }),
      ...workFacts(operation),
    };
    const before = started === 0 ? '' : `, ${started} already bought`;
    const text = isClosed
      ? `Page ${numberOf(input['page'])}: another run of this batch pays for it`
      : `Page ${numberOf(input['page'])}: ${isOver ? `${counted(rows, 'row')} read${before}` : withoutAnswer(operation).text}`;
    this.story.add(
      {
        kind: 'page',
        tone: isClosed ? 'bad' : isOver ? 'plain' : withoutAnswer(operation).tone,
        text,
        facts,
      },
      operation,
    );
  }

  /** Reads a group of creates. */
  creates(operation: Operation): void {
    const input = fieldsOf(operation.input);
    const asked = listOf(input['rows']);
    const answers = listOf(fieldsOf(operation.result)['answers']);
    const counts = new Map<string, number>();
    let sent = 0;
    let tone: Tone = 'plain';
    const each = asked.map((row, index): Fact => {
      const said = answerSaid(answers[index], this.story.shown);
      this.rows.created(row, said, operation);
      const key = this.rows.keyOf(row);
      if (said === undefined) return { row: key, answer: null };
      if (said.isSent) {
        sent += 1;
        this.story.sent(said.outcome);
      }
      this.story.currency ??= moneyOf(fieldsOf(answers[index])['estimate'])?.currency ?? null;
      counts.set(said.outcome, (counts.get(said.outcome) ?? 0) + 1);
      tone = worse(tone, said.tone);
      return { row: key, ...said.facts };
    });
    const isOver = operation.end === 'completed';
    const words = [...counts]
      .map(([outcome, count]) => `${count} ${outcome.replaceAll('_', ' ')}`)
      .join(', ');
    const text = `Creates for ${counted(asked.length, 'row')}: ${isOver ? words : withoutAnswer(operation).text}`;
    const facts = {
      asked: asked.length,
      sent,
      outcomes: Object.fromEntries(counts),
      rows: each,
      ...workFacts(operation),
    };
    const entry = this.story.add(
      { kind: 'create', tone: isOver ? tone : withoutAnswer(operation).tone, text, facts },
      operation,
    );
    this.story.limits.set(`${operation.run}/${operation.command}`, entry);
  }

  /** Reads one row's image call. */
  image(operation: Operation): void {
    const input = fieldsOf(operation.input);
    const result = fieldsOf(operation.result);
    const outcome = this.story.shown.word(result['outcome']);
    const key = this.rows.keyOf(input);
    const isSent =
      result['sent'] === true || ['completed', 'results_lost', 'unconfirmed'].includes(String(outcome));
    if (isSent) this.story.sent(outcome);
    this.rows.image(input, outcome, operation);
    const tone: Tone =
      outcome === 'completed' ? 'good' : outcome === null ? withoutAnswer(operation).tone : 'wait';
    const images = listOf(result['images']).length;
    const facts = {
      ...present<Fact>({
        row: key,
        creationKey: this.story.shown.id(input['creationKey']),
        outcome,
        images: images === 0 ? null : images,
        reason: this.story.shown.word(result['reason']),
        cause: this.story.shown.word(result['cause']),
        httpStatus: numberOf(result['httpStatus']),
      }),
      ...workFacts(operation),
    };
    const text = `Image call for row ${key}: ${outcome ?? withoutAnswer(operation).text}`;
    const entry = this.story.add({ kind: 'image', tone, text, facts }, operation);
    this.story.limits.set(`${operation.run}/${operation.command}`, entry);
  }

  results(operation: Operation): void {
    const { shown } = this.story;
    const isFold = operation.name === ACTIVITY.foldResults;
    const given = fieldsOf(operation.input);
    const rows = listOf(given['rows']);
    const segments = listOf(given['segments']);
    const counts = new Map<string, number>();
    const each = rows.map((row): Fact => {
      const fields = fieldsOf(row);
      const outcome = shown.word(fields['outcome']) ?? '?';
      counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
      this.rows.ended(fields);
      return present<Fact>({
        row: shown.id(fields['key']),
        outcome,
        reason: shown.word(fields['reason']),
        taskId: shown.id(fields['taskId']),
      });
    });
    const isOver = operation.end === 'completed';
    const facts = {
      ...(isFold ? { segments: segments.length } : { rows: each, outcomes: Object.fromEntries(counts) }),
      ...workFacts(operation),
    };
    const words = [...counts]
      .map(([outcome, count]) => `${count} ${outcome.replaceAll('_', ' ')}`)
      .join(', ');
    const what = isFold
      ? `Index of results (${counted(segments.length, 'segment')})`
      : `Results for ${counted(rows.length, 'row')} (${words})`;
    const text = `${what}${isOver ? ' written' : `: ${withoutAnswer(operation).text}`}`;
    this.story.add(
      { kind: 'results', tone: isOver ? 'plain' : withoutAnswer(operation).tone, text, facts },
      operation,
    );
  }
}

const TONES: readonly Tone[] = ['plain', 'good', 'wait', 'bad'];
const worse = (a: Tone, b: Tone): Tone => (TONES.indexOf(a) > TONES.indexOf(b) ? a : b);
