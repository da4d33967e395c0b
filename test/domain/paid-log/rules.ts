import { apply, decide, type KeyState, type LogEntry, NO_ENTRIES } from './rule';

/**
 * Ways to break the rule and what stands around it, each with the first schedule from 1000003 on that finds it. Whoever changes
 * what happens in a schedule looks for them anew.
 */
export const BROKEN = {
  // The rule of the log.
  late_purchase_ignored: 1_000_043,
  decision_about_anything: 1_002_265,
  fence_of_nobody: 1_000_648,
  // The sender.
  earlier_try_forgotten: 1_025_845,
  append_again: 1_000_422,
  unheard_sends: 1_000_765,
  told_before_recorded: 1_000_027,
  // The reconciliation.
  any_entry_holds: 1_010_917,
  first_intent_only: 1_010_935,
  other_journal_proves: 1_000_121,
  own_intent_forgotten: 1_000_051,
  bound_later_proves: 1_005_526,
  binding_heard_at_once: 1_148_118,
  no_fence: 1_000_648,
} as const;

export type Broken = keyof typeof BROKEN | null;

/** The rule as it is, or with one part of it broken. */
export function ruleWith(broken: Broken): {
  readonly stateOf: (log: readonly LogEntry[]) => KeyState;
  readonly decide: typeof decide;
} {
  const step = (state: KeyState, entry: LogEntry): KeyState => {
    const isOwn = 'nonce' in entry && [state.open, state.unknown].some((sent) => sent?.nonce === entry.nonce);
    if (broken === 'late_purchase_ignored' && entry.kind === 'answer' && !isOwn) return state;
    if (broken === 'decision_about_anything' && entry.kind === 'decision')
      return apply(state, { ...entry, about: state.unknown?.nonce ?? entry.about });
    return apply(state, entry);
  };
  return {
    stateOf: (log) => log.reduce(step, NO_ENTRIES),
    decide: (state, caller) =>
      decide(broken === 'fence_of_nobody' ? { ...state, fenced: [] } : state, caller),
  };
}
