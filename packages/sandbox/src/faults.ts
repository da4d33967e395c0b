import { isJsonObject, type JsonObject } from './json-value';

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

/** The faults for one request: the sum of all matching delays, and the first other action. */
interface FaultVerdict {
  delayMs: number;
  action?: FaultAction;
}

/**
 * The active fault rules. `skip`, `every` and `times` limit each rule. The first match wins. Rules for one task come
 * before the others and are indexed by task id, so that lookup stays fast even if thousands of tasks have their own
 * faults.
 */
export class FaultRules {
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

  /** Returns the rules that can still apply. */
  list(): FaultRule[] {
    return [...[...this.byTask.values()].flat(), ...this.open].map((one) => one.rule);
  }

  /**
   * Uses up one application of the operation's first `reset_early` rule that has no further conditions. Returns true if
   * the rule applies now.
   */
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

/** The operation's name in the log, in counters and in fault rules. */
export type SandboxOperation = (typeof SANDBOX_OPERATIONS)[number];

/** A complete reply: JSON `body`, or `raw` text with its `contentType` (default text/plain). */
export interface ReplyFault {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
  /** Text instead of a JSON body. */
  raw?: string;
  /** Content type of `raw`. */
  contentType?: string;
}

/** How a reply is lost after the request body was read. */
export type LostReply = 'reset' | 'close' | 'stall' | 'stall_body' | 'cut_body';

/** What a matching rule does to a request. The comments are inside the objects because `schema faults` prints them. */
export type FaultAction =
  | ({
      /** Sends this reply; nothing is accepted. */
      type: 'status';
    } & ReplyFault)
  | ({
      /** Accepts and counts the task or image, then sends this reply. */
      type: 'accept_then_status';
    } & ReplyFault)
  | {
      /** Reads the body, accepts the work or not, and then sends RST, FIN, nothing, or half a reply. */
      type: 'lose_reply';
      accepted: boolean;
      how: LostReply;
    }
  | {
      /** Sends RST before the body is read. Rules with promptIncludes, model or taskId cannot match that early. */
      type: 'reset_early';
    }
  | {
      /** Waits before the reply. The next matching rule applies too. */
      type: 'delay';
      ms: number;
    }
  | { type: 'slow_body'; bytesPerSecond: number }
  | {
      /** Sends fewer bytes than Content-Length announces. */
      type: 'cut_body';
      afterBytes: number;
      how: 'reset' | 'close';
    }
  | {
      /** Sends a truncated file with a matching Content-Length. */
      type: 'truncate';
      bytes: number;
    }
  | {
      /** Sends status 200 and video/mp4 (image/png for images), but an error page as the body. */
      type: 'json_page';
    }
  | { type: 'html_page' }
  | { type: 'not_ready'; status?: 400 | 404 | 409 }
  | { type: 'expired' }
  | { type: 'redirect'; location: string; status?: number }
  | {
      /** Poll: merges the patch into the record. Null removes a field. */
      type: 'record';
      patch: JsonObject;
    }
  | {
      /** Poll: the task fails permanently. `error` may have any shape. */
      type: 'task_fails';
      error?: unknown;
      progress?: number;
    }
  | {
      /** Poll: the record has this status value. */
      type: 'status_word';
      status: string;
    };

/** One rule in a fault script. All given conditions must match. */
export interface FaultRule {
  /** Which requests it applies to. */
  operation: SandboxOperation;
  /** Only requests whose prompt contains this text. @default any */
  promptIncludes?: string;
  /** Only requests for this model. @default any */
  model?: string;
  /** Only requests for this task. @default any */
  taskId?: string;
  /** Number of matching requests that pass first. @default 0 */
  skip?: number;
  /** After `skip`, every Nth matching request gets the fault: 500 is 0.2%. @default 1 */
  every?: number;
  /** How often the rule applies; 0 means no limit. @default 1 */
  times?: number;
  /** What happens to the request or its reply. */
  action: FaultAction;
}

/** The values that a field can have: any value of a kind, or one of a list. */
type Form =
  | 'any value'
  | 'a string'
  | 'a non-negative number'
  | 'true or false'
  | 'an object'
  | readonly (string | number)[];

/** The form of a required or an optional field. */
interface Field {
  readonly form: Form;
  readonly optional: boolean;
}

const must = (form: Form): Field => ({ form, optional: false });
const may = (form: Form): Field => ({ form, optional: true });

const REPLY = {
  status: must('a non-negative number'),
  headers: may('an object'),
  body: may('any value'),
  raw: may('a string'),
  contentType: may('a string'),
};

/** The fields of each action, except `type`. */
const ACTIONS: {
  readonly [Type in FaultAction['type']]: {
    readonly [Name in Exclude<keyof Extract<FaultAction, { type: Type }>, 'type'>]-?: Field;
  };
} = {
  status: REPLY,
  accept_then_status: REPLY,
  lose_reply: {
    accepted: must('true or false'),
    how: must(['reset', 'close', 'stall', 'stall_body', 'cut_body'] satisfies LostReply[]),
  },
  reset_early: {},
  delay: { ms: must('a non-negative number') },
  slow_body: { bytesPerSecond: must('a non-negative number') },
  cut_body: { afterBytes: must('a non-negative number'), how: must(['reset', 'close']) },
  truncate: { bytes: must('a non-negative number') },
  json_page: {},
  html_page: {},
  not_ready: { status: may([400, 404, 409]) },
  expired: {},
  redirect: { location: must('a string'), status: may('a non-negative number') },
  record: { patch: must('an object') },
  task_fails: { error: may('any value'), progress: may('a non-negative number') },
  status_word: { status: must('a string') },
};

/** The fields of a rule, except its action. */
const RULE: { readonly [Name in Exclude<keyof FaultRule, 'action'>]-?: Field } = {
  operation: must(SANDBOX_OPERATIONS),
  promptIncludes: may('a string'),
  model: may('a string'),
  taskId: may('a string'),
  skip: may('a non-negative number'),
  every: may('a non-negative number'),
  times: may('a non-negative number'),
};

/** An invalid rule. The message says what is allowed. */
export class FaultRuleError extends Error {}

/**
 * Reads and checks rules from JSON. A mistyped rule would match nothing, which could let a test pass by mistake.
 * @throws FaultRuleError with the rule, the field and what is allowed
 */
export function readFaultRules(value: unknown): FaultRule[] {
  if (!Array.isArray(value)) throw new FaultRuleError('Fault rules must be a JSON array.');
  value.forEach((rule: unknown, index) => {
    const place = `rule ${index + 1}`;
    if (!isJsonObject(rule)) throw new FaultRuleError(`${place} must be an object.`);
    const { action, ...conditions } = rule;
    checkFields(place, conditions, RULE, ['action']);
    if (!isJsonObject(action)) throw new FaultRuleError(`${place}: action must be an object with a type.`);
    const { type, ...fields } = action;
    checkForm(`${place}: action.type`, type, Object.keys(ACTIONS));
    checkFields(`${place}: action`, fields, ACTIONS[type as FaultAction['type']], ['type']);
  });
  return value as FaultRule[];
}

/** @param others names of fields that are read elsewhere */
function checkFields(
  place: string,
  given: JsonObject,
  allowed: { readonly [name: string]: Field },
  others: readonly string[],
): void {
  for (const name of Object.keys(given))
    if (!Object.hasOwn(allowed, name))
      throw new FaultRuleError(
        `${place} has no field ${JSON.stringify(name)}. Allowed: ${[...Object.keys(allowed), ...others].join(', ')}.`,
      );
  for (const [name, { form, optional }] of Object.entries(allowed))
    if (given[name] != null || !optional) checkForm(`${place}: ${name}`, given[name], form);
}

function checkForm(place: string, value: unknown, form: Form): void {
  if (isForm(value, form)) return;
  if (typeof form === 'string') throw new FaultRuleError(`${place} must be ${form}.`);
  const shown = value === undefined ? 'missing' : `${JSON.stringify(value)}, which is unknown`;
  throw new FaultRuleError(`${place} is ${shown}. Allowed: ${form.join(', ')}.`);
}

function isForm(value: unknown, form: Form): boolean {
  switch (form) {
    case 'any value':
      return true;
    case 'a string':
      return typeof value === 'string';
    case 'a non-negative number':
      return typeof value === 'number' && value >= 0;
    case 'true or false':
      return typeof value === 'boolean';
    case 'an object':
      return isJsonObject(value);
    default:
      return form.includes(value as string | number);
  }
}
