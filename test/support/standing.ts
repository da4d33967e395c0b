import { type AskStanding } from '../../src/domain/journal-binding';
import { type SenderTrace } from '../../src/domain/journal-proof';
import { type CallFacts } from '../../src/domain/paid-call';

/** A journal that its queue belongs to since ever, for activities without a server. */
export const alwaysBound: AskStanding = async () => ({
  bound: true,
  journalId: 'the-journal',
  boundSince: new Date(0).toISOString(),
});

/** Of a create of which nobody lastHeartbeat, for reconciliations. */
export const UNHEARD: { readonly senders: SenderTrace; readonly facts: CallFacts } = {
  senders: { lastHeartbeat: null, scheduledAt: new Date(1).toISOString() },
  facts: { model: 'm', durationSeconds: null, resolution: null, referenceMode: null },
};
