import { billInReply, type LogEntry, type Send } from '../../../src/domain/log-entries';
import { apply, decide, type KeyState, NO_ENTRIES } from '../../../src/domain/paid-log';

/**
 * Ways to break the rule and what stands around it, each with the first schedule from 1000003 on that finds it. Whoever changes
 * what happens in a schedule looks for them anew.
 */
export const BROKEN = {
  // The rule of the log.
  late_purchase_ignored: 1_018_865,
  decision_about_anything: 1_003_677,
  fence_of_nobody: 1_013_173,
  bill_settles: 1_000_007,
  reply_bills_over_entry: 1_000_250,
  // The sender.
  earlier_try_forgotten: 1_003_497,
  append_again: 1_000_039,
  unheard_sends: 1_002_648,
  answer_of_nothing: 1_000_121,
  told_before_recorded: 1_000_014,
  // The reconciliation.
  any_entry_holds: 1_035_051,
  first_intent_only: 1_012_077,
  other_journal_proves: 1_000_327,
  own_intent_forgotten: 1_000_451,
  bound_later_proves: 1_002_121,
  binding_heard_at_once: 1_317_539,
  no_fence: 1_008_458,
} as const;

export type Broken = keyof typeof BROKEN | null;

/** The rule as it is, or with one part of it broken. */
export function ruleWith(broken: Broken): {
  readonly stateOf: (log: readonly LogEntry[]) => KeyState;
  readonly decide: typeof decide;
} {
  const step = (state: KeyState, entry: LogEntry): KeyState => {
    const { sends, open, unknown } = state;
    const isOf = (at: number | null, nonce: string) => at !== null && sends[at]?.sent.nonce === nonce;
    if (broken === 'late_purchase_ignored' && entry.kind === 'answer')
      if (!isOf(open, entry.nonce) && !isOf(unknown, entry.nonce)) return state;
    if (broken === 'decision_about_anything' && entry.kind === 'decision' && unknown !== null)
      return apply(state, { ...entry, about: sends[unknown]?.sent.nonce ?? entry.about });
    // A send of unknown fate that has a bill is taken for a decided one.
    if (broken === 'bill_settles' && entry.kind === 'bill' && isOf(unknown, entry.about))
      return { ...apply(state, entry), unknown: null };
    // The amount in a reply takes the place of a bill that was recorded before.
    if (broken === 'reply_bills_over_entry' && entry.kind === 'answer') {
      const next = apply(state, entry);
      const bill = billInReply(entry);
      const isOwn = (send: Send) => bill !== null && send.sent.nonce === entry.nonce;
      return { ...next, sends: next.sends.map((send) => (isOwn(send) ? { ...send, bill } : send)) };
    }
    return apply(state, entry);
  };
  // Schedules read the same beginnings of logs over and over.
  const known = new WeakMap<KeyState, Map<LogEntry, KeyState>>();
  const remembered = (state: KeyState, entry: LogEntry): KeyState => {
    const after = known.get(state) ?? new Map<LogEntry, KeyState>();
    const next = after.get(entry) ?? step(state, entry);
    known.set(state, after.set(entry, next));
    return next;
  };
  return {
    stateOf: (log) => log.reduce(remembered, NO_ENTRIES),
    decide: (state, caller) =>
      decide(broken === 'fence_of_nobody' ? { ...state, fenced: [] } : state, caller),
  };
}
