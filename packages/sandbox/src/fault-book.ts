import { type FaultAction, type FaultRule, type SandboxOperation } from './faults';

/** The properties of a request that fault rules match. */
interface FaultSubject {
  operation: SandboxOperation;
  prompt?: string | undefined;
  model?: string | undefined;
  taskId?: string | undefined;
}

interface OpenRule {
  rule: FaultRule;
  /** Number of matching requests that pass before the rule applies again. */
  pass: number;
  left: number;
}

/** The faults of one request: the sum of all matching delays and the first other action. */
interface FaultVerdict {
  delayMs: number;
  action?: FaultAction;
}

/**
 * The active fault rules; `skip`, `every` and `times` limit each. The first match wins. Rules for one task come before
 * the others and are indexed by task id, so that lookup stays fast with thousands of tasks that have their own faults.
 */
export class FaultBook {
  private open: OpenRule[] = [];
  private byTask = new Map<string, OpenRule[]>();

  add(rules: readonly FaultRule[]): void {
    for (const rule of rules) {
      const times = rule.times ?? 1;
      const open: OpenRule = { rule, pass: rule.skip ?? 0, left: times === 0 ? Infinity : times };
      if (rule.taskId === undefined) this.open.push(open);
      else this.byTask.set(rule.taskId, [...(this.byTask.get(rule.taskId) ?? []), open]);
    }
  }

  clear(): void {
    this.open = [];
    this.byTask.clear();
  }

  /** Rules that can still apply. */
  list(): FaultRule[] {
    return [...[...this.byTask.values()].flat(), ...this.open].map((one) => one.rule);
  }

  /** Uses the first `reset_early` rule without further conditions for this operation; true when it applies now. */
  takeEarlyReset(operation: SandboxOperation): boolean {
    const early = this.open.find((one) => isEarly(one.rule) && one.rule.operation === operation);
    return early !== undefined && this.use(early);
  }

  take(subject: FaultSubject): FaultVerdict {
    const verdict: FaultVerdict = { delayMs: 0 };
    for (const one of [...(this.byTask.get(subject.taskId ?? '') ?? []), ...this.open]) {
      if (isEarly(one.rule) || !matches(one.rule, subject) || !this.use(one)) continue;
      if (one.rule.action.type === 'delay') {
        verdict.delayMs += one.rule.action.ms;
      } else {
        return { ...verdict, action: one.rule.action };
      }
    }
    return verdict;
  }

  private use(one: OpenRule): boolean {
    if (one.pass > 0) {
      one.pass -= 1;
      return false;
    }
    one.pass = (one.rule.every ?? 1) - 1;
    one.left -= 1;
    if (one.left > 0) return true;
    const { taskId } = one.rule;
    const others = (taskId === undefined ? this.open : (this.byTask.get(taskId) ?? [])).filter(
      (other) => other !== one,
    );
    if (taskId === undefined) this.open = others;
    else if (others.length === 0) this.byTask.delete(taskId);
    else this.byTask.set(taskId, others);
    return true;
  }
}

function isEarly(rule: FaultRule): boolean {
  return (
    rule.action.type === 'reset_early' &&
    rule.promptIncludes === undefined &&
    rule.model === undefined &&
    rule.taskId === undefined
  );
}

function matches(rule: FaultRule, subject: FaultSubject): boolean {
  return (
    rule.operation === subject.operation &&
    (rule.promptIncludes === undefined || (subject.prompt ?? '').includes(rule.promptIncludes)) &&
    (rule.model === undefined || rule.model === subject.model) &&
    (rule.taskId === undefined || rule.taskId === subject.taskId)
  );
}
