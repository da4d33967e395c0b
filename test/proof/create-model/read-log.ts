import { type KeyLog } from '../../../src/activities/key-log';
import { type LogEntry, type Send } from '../../../src/domain/log-entries';
import { apply, decide, type KeyState, type Licence, NO_ENTRIES } from '../../../src/domain/paid-log';
import {
  type Activity,
  type Bounds,
  callerOf,
  type Entry,
  entryOf,
  NOT_BEFORE,
  requestOf,
  type Rules,
  runOf,
} from './world';

/** Logs that were read before: a walk meets few of them, and each of them often. */
export class Logs {
  private readonly seen = new WeakMap<readonly Entry[], KeyLog>();
  private readonly read = new Map<string, KeyLog>();
  private readonly decided = new Map<KeyLog, Map<string, Licence>>();

  constructor(
    private readonly bounds: Bounds,
    private readonly rules: Rules,
  ) {}

  /** The log as the real rule reads it. */
  of(entries: readonly Entry[]): KeyLog {
    const seen = this.seen.get(entries);
    if (seen !== undefined) return seen;
    const name = logKey(entries);
    const known = this.read.get(name) ?? this.make(entries);
    this.read.set(name, known);
    this.seen.set(entries, known);
    return known;
  }

  private make(entries: readonly Entry[]): KeyLog {
    const real = entries.map((entry) => entryOf(entry, this.bounds));
    const state = real.reduce((before, entry) => this.after(before, entry), NO_ENTRIES);
    return { key: { namespace: 'default', creationKey: 'key' }, entries: real, state };
  }

  /** The real rule, or one part of it broken. */
  private after(state: KeyState, entry: LogEntry): KeyState {
    const { latePurchases, eachDecided } = this.rules;
    const { open, unknown, sends } = state;
    const waits = [open, unknown].flatMap((at) => (at === null ? [] : [sends[at]?.sent.nonce]));
    if (!latePurchases && entry.kind === 'answer' && !waits.includes(entry.nonce)) return state;
    const next = apply(state, entry);
    return eachDecided || entry.kind !== 'decision' ? next : { ...next, unknown: null };
  }

  /** The real decision. */
  decide(entries: readonly Entry[], of: Activity, asker: Asker): Licence {
    const { compares, late, asks } = asker;
    const log = this.of(entries);
    const before = this.decided.get(log) ?? new Map<string, Licence>();
    this.decided.set(log, before);
    const name = `${of} ${compares} ${late} ${asks}`;
    const known = before.get(name);
    if (known !== undefined) return known;
    const caller = callerOf(of);
    const made = decide(log.state, {
      sender: of,
      runId: runOf(caller),
      fingerprint: compares ? requestOf(caller, this.bounds) : null,
      attemptAt: new Date(0).toISOString(),
      now: late ? NOT_BEFORE : 0,
      again: asks && this.bounds.again?.includes(caller) === true,
    });
    before.set(name, made);
    return made;
  }
}

interface Asker {
  readonly compares: boolean;
  readonly late: boolean;
  /** Says what its person wants. */
  readonly asks: boolean;
}

function logKey(entries: readonly Entry[]): string {
  return entries.map(entryKey).join(' ');
}

function entryKey(entry: Entry): string {
  switch (entry.kind) {
    case 'intent':
      return `i${entry.of}`;
    case 'fence':
      return `f${entry.of}`;
    case 'lost':
      return `l${entry.nonce}`;
    case 'answer':
      return `a${entry.nonce}${entry.fate}`;
    case 'decision':
      return `d${entry.nonce}${entry.decision}`;
  }
}

/** The send that waits for a decision, and whether it is still open. */
export function undecided({ state }: KeyLog): { readonly send: Send; readonly isOpen: boolean } | undefined {
  const at = state.bought === null ? (state.unknown ?? state.open) : null;
  const send = at === null ? undefined : state.sends[at];
  return send === undefined ? undefined : { send, isOpen: state.open === at };
}
