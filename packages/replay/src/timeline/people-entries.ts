import { formatMoney } from 'temporal-media/internal/domain/money';
import { UPDATE } from 'temporal-media/internal/domain/names';
import { type Operation } from './operations';
import { answerSaid, moneyOf, readTask, withoutAnswer, workFacts } from './paid-entries';
import { type OpenEntry, type Said, type Story } from './story';
import { type Fact } from './timeline';
import { fieldsOf, listOf, numberOf, present, shownSpan, textOf } from './values';

const DECISIONS: readonly string[] = [UPDATE.adopt, UPDATE.declareLost, UPDATE.resubmit];
const OURS: readonly string[] = Object.values(UPDATE);

/** Returns who decided what, for use in a sentence. */
function decisionName(name: string, by: unknown, story: Story): string {
  const who = story.shown.said(by);
  return `Decision${who === null ? '' : ` by ${who}`}: ${DECIDED[name] ?? 'unknown'}`;
}

const DECIDED: { readonly [decision: string]: string } = {
  adopt: 'adopt',
  declareLost: 'declare lost',
  resubmit: 'resubmit',
};

/** Reads Updates, and the activities that carry out decisions. */
export class PeopleReader {
  /** Decisions that have no matching activity yet, by name. */
  private readonly open = new Map<string, OpenEntry[]>();

  constructor(private readonly story: Story) {}

  update(operation: Operation): void {
    const { name, input, result, end } = operation;
    if (!OURS.includes(name)) {
      const text = `Update ${this.story.shown.word(name)}${end === 'failed' ? ' failed' : ''}`;
      this.story.add({ kind: 'update', tone: end === 'failed' ? 'bad' : 'plain', text }, operation);
      return;
    }
    const args = listOf(input);
    if (DECISIONS.includes(name)) this.decision(operation, args);
    else {
      const said = this.changeOf(name, args[0]);
      const answer = fieldsOf(result);
      const isRefused = answer['accepted'] === false;
      const facts = present<Fact>({
        ...said.facts,
        accepted: answer['accepted'] === undefined ? null : !isRefused,
      });
      const text = `${said.text}${isRefused ? ': refused' : ''}`;
      this.story.add({ kind: 'update', tone: isRefused ? 'bad' : 'plain', text, facts }, operation);
      if (name === UPDATE.pause) this.story.pausedSince ??= operation.at;
      if (name === UPDATE.resume || name === UPDATE.cancel) this.story.resumed(operation.at);
    }
  }

  private decision(operation: Operation, args: readonly unknown[]): void {
    const { name, result } = operation;
    const { shown } = this.story;
    const fields = fieldsOf(args[0]);
    this.story.decided(operation.at);
    const facts = present<Fact>({
      decision: name,
      by: shown.said(fields['by']),
      reason: shown.said(fields['reason']),
      taskId: shown.id(fields['taskId']),
      rowKey: shown.id(fields['key']),
      creationKey: shown.id(fields['creationKey']),
    });
    const entry = this.story.add(
      {
        kind: 'decision',
        ...decisionSaid(decisionName(name, fields['by'], this.story), result, this.story),
        facts: { ...facts, ...decisionFacts(result, this.story) },
      },
      operation,
    );
    const isRefused = fieldsOf(result)['accepted'] === false;
    if (!isRefused) this.open.set(name, [...(this.open.get(name) ?? []), entry]);
  }

  /**
   * Adds `media.resolveUnconfirmed` to the Update that requested it. If there is none, adds it as a separate decision.
   */
  carriedOut(operation: Operation): void {
    const input = fieldsOf(operation.input);
    const name = textOf(input['decision']) ?? '';
    const { shown } = this.story;
    const facts = {
      ...present<Fact>({
        decision: shown.word(name),
        by: shown.said(input['by']),
        reason: shown.said(input['reason']),
        taskId: shown.id(input['taskId']),
        creationKey: shown.id(input['creationKey']),
      }),
      ...decisionFacts(operation.result, this.story),
      ...workFacts(operation),
    };
    this.story.creationKey ??= shown.id(input['creationKey']);
    const isOver = operation.end === 'completed';
    const what = decisionName(name, input['by'], this.story);
    const said = isOver ? decisionSaid(what, operation.result, this.story) : unsaid(what, operation);
    const entry = this.open.get(name)?.shift();
    if (entry === undefined) this.story.add({ kind: 'decision', ...said, facts }, operation);
    else {
      entry.add(operation);
      entry.say({ ...said, facts: { ...entry.said.facts, ...facts } });
    }
    const answer = fieldsOf(fieldsOf(operation.result)['answer']);
    if (answer['outcome'] === 'created') {
      readTask(answer['video'], operation, this.story);
      this.story.estimated(moneyOf(answer['estimate']));
    }
    if (fieldsOf(operation.result)['resolved'] !== true && isOver && operation.endedAt !== null)
      this.story.undecidedSince = operation.endedAt;
  }

  cancel(operation: Operation): void {
    const by =
      operation.target === null ? '' : ` by workflow ${this.story.shown.id(operation.target.workflowId)}`;
    this.story.add(
      { kind: 'cancel_requested', tone: 'wait', text: `Cancellation requested${by}` },
      operation,
    );
  }

  private changeOf(
    name: string,
    input: unknown,
  ): Pick<Said, 'text'> & { readonly facts: { readonly [name: string]: Fact } } {
    const fields = fieldsOf(input);
    switch (name) {
      case UPDATE.setConcurrency:
        return {
          text: `Concurrency set to ${numberOf(fields['concurrency'])}`,
          facts: present<Fact>({ concurrency: numberOf(fields['concurrency']) }),
        };
      case UPDATE.raiseBudget: {
        const money = moneyOf(fields['budget']);
        const shown = money === null ? 'an unknown amount' : formatMoney(money);
        return { text: `Budget raised to ${shown}`, facts: { budget: shown } };
      }
      case UPDATE.resumeRows: {
        const rows = this.story.shown.word(fieldsOf(fields['select'])['rows']);
        return { text: `Rows resumed (${rows})`, facts: present<Fact>({ select: rows }) };
      }
      case UPDATE.pause:
        return { text: 'Campaign paused', facts: {} };
      case UPDATE.resume:
        return { text: 'Campaign resumed', facts: {} };
      default:
        return { text: 'Campaign canceled', facts: {} };
    }
  }
}

function unsaid(what: string, operation: Operation): Pick<Said, 'text' | 'tone'> {
  const { text, tone } = withoutAnswer(operation);
  return { text: `${what}: ${text}`, tone };
}

function decisionSaid(what: string, result: unknown, story: Story): Pick<Said, 'text' | 'tone'> {
  const fields = fieldsOf(result);
  if (fields['resolved'] === false || fields['accepted'] === false) {
    const reason = story.shown.word(fields['reason']);
    return { tone: 'bad', text: `${what}: refused${reason === null ? '' : ` (${reason})`}` };
  }
  const carried = fields['resolved'] === true || fields['accepted'] === true;
  return { tone: carried ? 'good' : 'plain', text: `${what}${carried ? ', carried out' : ''}` };
}

function decisionFacts(result: unknown, story: Story): { readonly [name: string]: Fact } {
  const fields = fieldsOf(result);
  const answer = answerSaid(fields['answer'], story.shown);
  return present<Fact>({
    resolved: typeof fields['resolved'] === 'boolean' ? fields['resolved'] : null,
    refusedBecause: fields['resolved'] === false ? story.shown.word(fields['reason']) : null,
    answer: answer === undefined ? null : answer.facts,
  });
}

/** Reads the timer that limits the wait for a decision. */
export function readDecisionWait(operation: Operation, story: Story): void {
  story.span('waiting_for_person', operation);
  const span = shownSpan((operation.endedAt ?? story.lastAt) - operation.at);
  story.add(
    { kind: 'decision_wait', tone: 'wait', text: `Waited ${span} for a person's decision` },
    operation,
  );
}
