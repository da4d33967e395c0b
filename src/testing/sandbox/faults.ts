import { type JsonObject } from './json-value';

/** What is known of a request when faults are looked up. */
interface FaultSubject {
  operation: SandboxOperation;
  prompt?: string | undefined;
  model?: string | undefined;
  taskId?: string | undefined;
}

interface OpenRule {
  rule: FaultRule;
  /** Matching requests that pass before the next one that the rule applies to. */
  pass: number;
  left: number;
}

/** What happens to one request: the delays of all matching delay rules and the first other action. */
interface FaultVerdict {
  delayMs: number;
  action?: FaultAction;
}

/**
 * The fault rules in force, each used up as its `skip` and `times` say. The first match wins; rules for one task come
 * before the others and are found by its id, so that thousands of tasks with faults of their own stay cheap.
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

  /** True, and used up, when a `reset_early` rule without further conditions is next for this operation. */
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

/** Every operation, in the order in which counters show them. */
export const SANDBOX_OPERATIONS = [
  'create',
  'poll',
  'content',
  'media',
  'generate',
  'edit',
  'generated',
  'models',
  'unknown',
] as const;

/** What a request to the sandbox is: the operation under which it is logged, counted and matched by fault rules. */
export type SandboxOperation = (typeof SANDBOX_OPERATIONS)[number];

/** A reply in full: JSON `body`, or `raw` text with its `contentType` (default text/plain). */
export interface ReplyFault {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
  raw?: string;
  contentType?: string;
}

/** How a reply is lost after the body of the request was read. */
export type LostReply = 'reset' | 'close' | 'stall' | 'stall_body' | 'cut_body';

/** What a matching rule does to the request. */
export type FaultAction =
  /** Answered like this; nothing is accepted. */
  | ({ type: 'status' } & ReplyFault)
  /** The task or image is accepted and counted, then this reply is sent. */
  | ({ type: 'accept_then_status' } & ReplyFault)
  /** The body is read, the work accepted or not, then RST, FIN, silence, or half a reply. */
  | { type: 'lose_reply'; accepted: boolean; how: LostReply }
  /** RST before the body is read. Rules with promptIncludes, model or taskId cannot match that early. */
  | { type: 'reset_early' }
  /** Waits before the reply; combines with the next matching rule. */
  | { type: 'delay'; ms: number }
  | { type: 'slow_body'; bytesPerSecond: number }
  /** Content-Length says more than is sent. */
  | { type: 'cut_body'; afterBytes: number; how: 'reset' | 'close' }
  /** A short file whose Content-Length agrees with it. */
  | { type: 'truncate'; bytes: number }
  /** Status 200 and video/mp4 (image/png for images), but an error page as the body. */
  | { type: 'json_page' }
  | { type: 'html_page' }
  | { type: 'not_ready'; status?: 400 | 404 | 409 }
  | { type: 'expired' }
  | { type: 'redirect'; location: string; status?: number }
  /** Poll: merged into the record; null removes a field. */
  | { type: 'record'; patch: JsonObject }
  /** Poll: the task fails for good from here on. `error` may have any shape. */
  | { type: 'task_fails'; error?: unknown; progress?: number }
  /** Poll: the record says this status word. */
  | { type: 'status_word'; status: string };

/** One line of a fault script. All given conditions must hold. */
export interface FaultRule {
  operation: SandboxOperation;
  promptIncludes?: string;
  model?: string;
  taskId?: string;
  /** Matching requests that pass unharmed first. @default 0 */
  skip?: number;
  /** Of those that follow, one of so many: 500 is a fault of 0.2 %. @default 1 */
  every?: number;
  /** How often the rule applies; 0 = for ever. @default 1 */
  times?: number;
  action: FaultAction;
}
