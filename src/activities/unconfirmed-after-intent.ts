import { type SlotIntent } from '../domain/create-journal';
import { evidence } from '../domain/evidence';
import { type UnconfirmedCall } from '../domain/paid-call';
import { factsIn } from './intent-of';

/** An intent without an outcome, and no sender can be alive any more: what the slot knows is the evidence. */
export function unconfirmedAfterIntent(
  slot: SlotIntent,
  epoch: number,
  cause = 'no_outcome_recorded',
): UnconfirmedCall {
  const { account, estimate, bodyHash, sendWindowEnd } = slot;
  return {
    outcome: 'unconfirmed',
    epoch,
    sent: true,
    account,
    estimate,
    evidence: evidence(cause, {
      intentAt: slot.at,
      sendWindowEnd,
      bodyHash,
      ...factsIn(slot),
    }),
  };
}
