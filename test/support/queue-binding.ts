import { type SenderTrace } from '../../src/domain/create-heartbeat';
import { type CheckBinding } from '../../src/domain/journal';
import { type CallFacts } from '../../src/domain/paid-call';

/** A journal that its queue belongs to since ever, for activities without a server. */
export const alwaysBound: CheckBinding = async () => ({
  bound: true,
  journalId: 'the-journal',
  boundSince: new Date(0).toISOString(),
});

/** Of a create of which the server heard nothing, for reconciliations. */
export const NOTHING_ANNOUNCED: { readonly trace: SenderTrace; readonly facts: CallFacts } = {
  trace: { sender: 'run/activity', announced: null, scheduledAt: new Date(1).toISOString() },
  facts: { model: 'm', durationSeconds: null, resolution: null, referenceMode: null },
};
