import {
  decideEpoch,
  isOpenFate,
  mayFollow,
  type CreateJournal,
  type EpochAsker,
  type EpochDecision,
  type JournalKey,
  type OutcomeRecord,
  type RecordedAnswer,
  type SlotIntent,
} from '../domain/create-journal';

/** Where a caller stands: the epoch it may act in, and what that epoch's records say. */
export type OpenedEpoch = {
  readonly epoch: number;
  /** On the way there lies a send of unknown fate that was sent again by decision. */
  readonly mayBeOwed?: true;
  /** Nonces of the intents from the epoch in which it began up to here. */
  readonly intents: readonly string[];
} & Exclude<EpochDecision, { do: 'next_epoch' }>;

/** Goes forward over epochs that ended in a proven refusal; never over one that may have been accepted. */
export async function openEpoch(
  journal: CreateJournal | 'none',
  key: JournalKey,
  from: number,
  asker: EpochAsker,
): Promise<OpenedEpoch> {
  if (journal === 'none') return { epoch: from, do: 'send', intents: [] };
  const intents: string[] = [];
  let owed: { mayBeOwed?: true } = {};
  for (let epoch = from; ; epoch++) {
    const view = await journal.read(key, epoch);
    if (view.slot?.kind === 'intent') intents.push(view.slot.nonce);
    const decision = decideEpoch(view, asker);
    if (decision.do === 'next_epoch') {
      if (view.resolution && isOpenFate(view)) owed = { mayBeOwed: true };
      continue;
    }
    if (mayFollow(view, asker) && (await isPassed(journal, key, epoch))) continue;
    return { epoch, ...owed, intents, ...decision };
  }
}

/** Whether somebody took an epoch beyond this one for a send. A fence shuts out a sender and opens no way. */
export async function isPassed(journal: CreateJournal, key: JournalKey, epoch: number): Promise<boolean> {
  for (let next = epoch + 1; ; next++) {
    const { slot } = await journal.read(key, next);
    if (slot?.kind !== 'fence') return slot !== null;
  }
}

/**
 * Takes the epoch for one send. `lost` means that somebody else has it; `unsure` that the slot holds our intent although
 * the journal failed, so that it may not be durable: nothing may be sent on it. Throws when nothing can be known.
 */
export async function claimEpoch(
  journal: CreateJournal | 'none',
  key: JournalKey,
  epoch: number,
  intent: SlotIntent,
): Promise<'won' | 'lost' | 'unsure'> {
  if (journal === 'none') return 'won';
  const claim = await journal.putSlot(key, epoch, intent).catch((error: unknown) => ({ error }));
  if (claim === 'won') return claim;
  // An ambiguous write is read back: the nonce tells our own intent from another's (failure-model 2.5).
  const { slot } = await journal.read(key, epoch);
  if (slot?.nonce === intent.nonce) return claim === 'lost' ? 'won' : 'unsure';
  if (claim === 'lost') return claim;
  throw claim.error;
}

const RECORD_TRIES = 4;

/**
 * Records what a send came to, before anybody else is told. A journal that fails now cannot undo the send: the answer
 * still goes to the workflow, and `recorded: false` lets the caller say so.
 */
export async function recordOutcome(
  journal: CreateJournal | 'none',
  key: JournalKey,
  nonce: string,
  answer: RecordedAnswer,
): Promise<{ readonly recorded: boolean; readonly standing: RecordedAnswer }> {
  if (journal === 'none') return { recorded: false, standing: answer };
  const record: OutcomeRecord = {
    v: 1,
    nonce,
    at: new Date().toISOString(),
    answer: withoutForeignText(answer),
  };
  for (let attempt = 1; ; attempt++) {
    try {
      if ((await journal.putOutcome(key, answer.epoch, record)) === 'won')
        return { recorded: true, standing: answer };
      const { outcome } = await journal.read(key, answer.epoch);
      return { recorded: true, standing: outcome?.answer ?? answer };
    } catch {
      if (attempt >= RECORD_TRIES) return { recorded: false, standing: answer };
      await new Promise((resolve) => setTimeout(resolve, 50 * 2 ** attempt));
    }
  }
}

/** The service's own words may echo a prompt, and a journal is a diagnostic (C5.4c): kind, code and our message stay. */
function withoutForeignText(answer: RecordedAnswer): RecordedAnswer {
  if (!('error' in answer) || answer.error === undefined) return answer;
  return { ...answer, error: { ...answer.error, message: null } };
}
