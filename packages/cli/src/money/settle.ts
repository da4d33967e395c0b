import { countBill } from 'temporal-media/internal/activities/spend-book';
import { costOf, mayBeOwed } from 'temporal-media/internal/domain/log-entries';
import { formatMoney, readAmount } from 'temporal-media/internal/domain/money';
import { recordBill } from 'temporal-media/internal/domain/record-bill';
import { type BillEntry, type JournalKey } from 'temporal-media/stores';
import { type CommandContext } from '../shared/context';
import { badInput, CliError } from '../shared/errors';
import { userName } from '../unconfirmed/run';
import { callsOf, checkWords, fateOf, orUnusable, type Place, type SentCall, taskOf } from './calls';

/** A bill, as a person enters it. */
export interface Settlement {
  /** Creation key or task id. */
  readonly id: string;
  /** `0.35USD`, `none`, or a negative amount for a credit. Without a currency, in that of the estimate. */
  readonly amount: string;
  readonly reference: string;
  readonly reason: string;
  readonly by?: string;
  /** Undefined for the only send that may be owed. */
  readonly send?: string;
}

const NOT_RECORDED = 'Nothing was recorded. `temporal-media money settle --help` shows examples.';
const issue = (field: string, message: string): CliError => badInput([{ field, message }], NOT_RECORDED);

/** Records a bill. @throws CliError for an unknown call, or a bill that does not fit it */
export async function settleCall(
  { report }: CommandContext,
  place: Place,
  { id, amount, reference, reason, by = userName(), send: sendId }: Settlement,
): Promise<void> {
  checkWords({ '--reference': reference, '--reason': reason, '--by': by }, NOT_RECORDED);
  const { key, calls } = await callsWith(place, id);
  const { send } = chosen(calls, sendId);
  const money = billedAmount(amount, costOf(send)?.currency ?? null);
  const bill: BillEntry = {
    ...{ v: 1, kind: 'bill', about: send.sent.nonce, ...money },
    ...{ source: 'person', reference, by, reason, at: new Date().toISOString() },
  };
  const recorded = await orUnusable(recordBill(place.journal, key, bill));
  if (recorded === undefined) throw notFound(id, place);
  const { bill: existing, isNew } = recorded;
  const text = `${formatMoney(existing)}, ${existing.reference}`;
  const isInForce = isNew || recorded.send.bill === existing;
  if (existing.microUnits !== bill.microUnits || existing.currency !== bill.currency || !isInForce)
    throw issue(
      '--reference',
      `already bills this send: ${text}, by ${existing.by} at ${existing.at}${isInForce ? '' : ', and a later bill is in force'}. Use another reference to correct it.`,
    );
  if (isNew) await orUnusable(countBill(place.journal, recorded.send, bill));
  report.say(
    isNew ? `Recorded for ${key.creationKey}: ${text}.` : `Already recorded for ${key.creationKey}: ${text}.`,
  );
  report.result(key.creationKey);
  report.reply({ ok: true, data: { creationKey: key.creationKey, isNew, bill: existing } });
}

function notFound(id: string, { namespace }: Place): CliError {
  return new CliError(
    'not_found',
    `The journal has no sent call with the creation key or task id ${id} in namespace ${namespace}.`,
    {
      hint: 'Check the id, TEMPORAL_NAMESPACE and MEDIA_JOURNAL. `temporal-media money review` lists calls.',
    },
  );
}

interface CallsOfKey {
  readonly key: JournalKey;
  readonly calls: readonly SentCall[];
}

/** Finds an id as a creation key, then as a task. For a task, only the send that created it. */
async function callsWith(place: Place, id: string): Promise<CallsOfKey> {
  const { journal, namespace } = place;
  const own = await read(place, { namespace, creationKey: id });
  if (own.calls.length > 0) return own;
  const owners = (await orUnusable(journal.findTask(id))).filter((entry) => entry.namespace === namespace);
  const [owner] = owners;
  if (owner === undefined) throw notFound(id, place);
  if (owners.length > 1)
    throw issue(
      'key-or-task',
      `several accounts have a task ${id}. Pass a creation key instead: ${owners.map(({ creationKey, video }) => `${creationKey} (${video.account})`).join(', ')}.`,
    );
  const { key, calls } = await read(place, { namespace, creationKey: owner.creationKey });
  const created = calls.filter(({ send }) => taskOf(send) === id);
  if (calls.length === 0) throw notFound(id, place);
  return { key, calls: created.length > 0 ? created : calls };
}

async function read({ journal }: Place, key: JournalKey): Promise<CallsOfKey> {
  return { key, calls: callsOf(await orUnusable(journal.read(key))) };
}

/** Returns the named send, or the only one that a bill can be about. @throws CliError */
function chosen(calls: readonly SentCall[], sendId: string | undefined): SentCall {
  const owed = calls.filter(({ send }) => mayBeOwed(send));
  const meant =
    sendId === undefined
      ? owed.length > 0
        ? owed
        : calls
      : calls.filter(({ send }) => send.sent.nonce === sendId);
  const [only] = meant;
  if (only !== undefined && meant.length === 1) return only;
  const sends = calls.map(
    (call) => `${call.send.sent.nonce} (${call.send.sent.at}, ${fateOf(call, Date.now())})`,
  );
  throw issue(
    '--send',
    only === undefined
      ? `names no send of this call. Its sends: ${sends.join(', ')}.`
      : `is required, because the call was sent several times: ${sends.join(', ')}.`,
  );
}

/** @param expected currency of the estimate, or of an earlier bill; null if unknown */
function billedAmount(
  text: string,
  expected: string | null,
): { readonly microUnits: number; readonly currency: string } {
  const isCredit = text.startsWith('-');
  const amount =
    text.toLowerCase() === 'none'
      ? { microUnits: 0, currency: null }
      : readAmount(isCredit ? text.slice(1) : text);
  if (amount === undefined) throw issue('--amount', 'must be an amount such as 0.35USD, -0.10USD, or none.');
  const currency = amount.currency ?? expected;
  if (currency === null)
    throw issue('--amount', 'needs a currency, because the call has no estimate: 0.35USD, or 0USD for none.');
  if (expected !== null && currency !== expected)
    throw issue('--amount', `must be in ${expected}, the currency of the call's estimate.`);
  return { microUnits: isCredit && amount.microUnits > 0 ? -amount.microUnits : amount.microUnits, currency };
}
