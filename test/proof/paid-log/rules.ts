import { apply, decide, type KeyState, type LogEntry, NO_ENTRIES } from '../../../src/domain/paid-log';

/** Ways to break the rule and what stands around it, each of which a schedule has to find. */
export const BROKEN = [
  // The rule of the log.
  'late_purchase_ignored',
  'decision_about_anything',
  'fence_of_nobody',
  // The sender.
  'earlier_try_forgotten',
  'append_again',
  'unheard_sends',
  'told_before_recorded',
  // The reconciliation.
  'any_entry_holds',
  'first_intent_only',
  'other_journal_proves',
  'own_intent_forgotten',
  'bound_later_proves',
  'binding_heard_at_once',
  'no_fence',
] as const;

export type Broken = (typeof BROKEN)[number] | null;

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
