import { type UnloadedTarget, type Verdict } from '@temporal-media/replay';
import { type CommandErrorType, errorType } from '../exit-codes';
import { failureOf } from '../errors';
import { type TargetReport } from './target-report';

type Count = Verdict['verdict'] | 'unreadable';

/** Counts verdicts, and says with which error a command ends. */
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

  /** @param of whether a person has named the workflows, so that each of them must replay; and with the same inputs */
  constructor(private readonly of: { readonly named: boolean; readonly strictInputs: boolean }) {}

  add(target: TargetReport | UnloadedTarget): void {
    if ('error' in target) {
      this.#counts.unreadable += 1;
      this.#unread ??= failureOf(target.error).reply.type as CommandErrorType;
      return;
    }
    for (const { verdict, events } of target.runs) {
      this.#events += events;
      this.#counts[verdict.verdict] += 1;
      // Other teams have workflows in a namespace, too.
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

  /** Why it failed, in a sentence. */
  message(type: CommandErrorType): string {
    return type === 'replay_differs' && !this.differs()
      ? `${this.#counts.not_replayed} histories were not replayed: the current code has no such workflow, or another SDK wrote them.`
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
