import { CancellationScope, condition, defineUpdate, setHandler } from '@temporalio/workflow';
import { UPDATE } from '../domain/names';
import {
  decisionIssue,
  type ResolveUnconfirmedResult,
  type UnconfirmedDecision,
} from '../domain/unconfirmed-decision';

/** Argument of the Updates; `adopt` takes the task id alone as well. */
export interface DecisionArgument {
  readonly taskId?: string;
  readonly by?: string;
  readonly reason?: string;
}

export const adoptUpdate = defineUpdate<ResolveUnconfirmedResult, [DecisionArgument | string]>(UPDATE.adopt);
/** One object, or who and why as two arguments. */
export const declareLostUpdate = defineUpdate<ResolveUnconfirmedResult, [DecisionArgument | string]>(
  UPDATE.declareLost,
);
/** One object, or who and why as two arguments. */
export const resubmitUpdate = defineUpdate<ResolveUnconfirmedResult, [DecisionArgument | string]>(
  UPDATE.resubmit,
);

/** A decision that was accepted and waits to be carried out. */
export interface OpenDecision {
  readonly decision: UnconfirmedDecision;
  readonly taskId?: string;
  readonly by: string;
  readonly reason: string;
  readonly ordinal: number;
  /** Tells whoever sent the Update what became of it. */
  settle(result: ResolveUnconfirmedResult): void;
}

/**
 * Takes the decisions of people about a create of unknown fate (architecture: Names): the handlers only validate and enqueue, the
 * workflow carries out. An Update is refused while there is nothing to decide, and then leaves no event.
 */
export class Decisions {
  private readonly queue: OpenDecision[] = [];
  private waiting = false;
  private count = 0;

  /** Before the first await: an Update may come with the first workflow task. */
  accept(): void {
    setHandler(adoptUpdate, (given) => this.enqueue(adoptOf(given)), {
      validator: (given) => this.validate(adoptOf(given)),
    });
    setHandler(
      declareLostUpdate,
      (given, ...why: unknown[]) => this.enqueue(wordsOf('declareLost', given, why[0])),
      {
        validator: (given, ...why: unknown[]) => this.validate(wordsOf('declareLost', given, why[0])),
      },
    );
    setHandler(
      resubmitUpdate,
      (given, ...why: unknown[]) => this.enqueue(wordsOf('resubmit', given, why[0])),
      {
        validator: (given, ...why: unknown[]) => this.validate(wordsOf('resubmit', given, why[0])),
      },
    );
  }

  /** The next decision; undefined when none has come in time. Throws when the workflow is cancelled. */
  async next(withinMs: number | null): Promise<OpenDecision | undefined> {
    this.waiting = true;
    const there = (): boolean => this.queue.length > 0;
    if (withinMs === null) await condition(there);
    else await condition(there, withinMs);
    return this.take();
  }

  /** A decision that has come already. */
  take(): OpenDecision | undefined {
    return this.queue.shift();
  }

  /** Nothing is left to decide: later Updates are refused, and open ones learn why. */
  close(settle: (open: OpenDecision) => ResolveUnconfirmedResult): void {
    this.waiting = false;
    for (const open of this.queue.splice(0)) open.settle(settle(open));
  }

  private validate(given: GivenDecision): void {
    if (!this.waiting)
      throw new Error('There is nothing to decide: no create of this workflow waits with an unknown fate.');
    const issue = decisionIssue(given);
    if (issue !== undefined) throw new Error(issue);
  }

  private async enqueue(given: GivenDecision): Promise<ResolveUnconfirmedResult> {
    let result: ResolveUnconfirmedResult | undefined;
    const { decision, taskId, by, reason } = given;
    this.queue.push({
      decision,
      ...(typeof taskId === 'string' && { taskId }),
      by: String(by),
      reason: String(reason),
      ordinal: this.count++,
      settle: (settled) => {
        result = settled;
      },
    });
    // A cancellation of the workflow does not undo what was accepted: who sent it hears what became of it.
    await CancellationScope.nonCancellable(() => condition(() => result !== undefined));
    return result as unknown as ResolveUnconfirmedResult;
  }
}

interface GivenDecision {
  readonly decision: UnconfirmedDecision;
  readonly taskId?: unknown;
  readonly by?: unknown;
  readonly reason?: unknown;
}

/** Who adopts by the id alone has said all that is needed. */
function adoptOf(given: unknown): GivenDecision {
  const { taskId, by, reason } = typeof given === 'string' ? { taskId: given } : fieldsOf(given);
  return { decision: 'adopt', taskId, by: by ?? 'update', reason: reason ?? 'adopted by its task id' };
}

function wordsOf(decision: UnconfirmedDecision, given: unknown, why: unknown): GivenDecision {
  const { by, reason } = typeof given === 'string' ? { by: given, reason: why } : fieldsOf(given);
  return { decision, by, reason };
}

const fieldsOf = (given: unknown): { taskId?: unknown; by?: unknown; reason?: unknown } =>
  typeof given === 'object' && given !== null ? given : {};
