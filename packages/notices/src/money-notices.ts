import { type FullLimit, type RowOutcome } from 'temporal-media';
import { limitsOfSend, spendBooksOf } from 'temporal-media/internal/activities/spend-book';
import { type Send } from 'temporal-media/internal/domain/log-entries';
import {
  type CallLimit,
  configuredLimits,
  limitsOfPayer,
  type SpendLimits,
  spendWindow,
} from 'temporal-media/internal/domain/money';
import { credentialOf } from 'temporal-media/internal/domain/names';
import { idArgument } from 'temporal-media/internal/domain/terminal-text';
import { type CreateJournal } from 'temporal-media/stores';
import {
  fieldOf,
  makeNotice,
  type Notice,
  type NoticePlace,
  numbersIn,
  plainId,
  plainNumber,
  plainWord,
} from './notice';

/** The shares of a limit or budget that are reported, in percent. */
const THRESHOLDS = [80, 100] as const;

/** @param isSpent whether a call did not fit anymore, although the sum is below the total */
function reached(used: number, total: number, isSpent: boolean): readonly number[] {
  return THRESHOLDS.filter(
    (percent) => (total > 0 && used >= (total * percent) / 100) || (isSpent && percent === 100),
  );
}

/** The most windows that one round reads for a limit, for example hours of an outage. */
const MOST_WINDOWS = 100;

/** An account's name and limits. */
export interface LimitedAccount extends SpendLimits {
  readonly credential: string;
}

/** A limit in one of its windows. */
interface LimitWindow {
  readonly limit: CallLimit;
  /** A time in the window, in milliseconds since the Unix epoch. */
  readonly at: number;
}

/** The limits that one round looks for. */
export interface LimitSearch {
  /** Times between which windows are looked at, in milliseconds since the Unix epoch. */
  readonly since: number;
  readonly now: number;
  /** Limits that hold calls back. */
  readonly full: readonly FullLimit[];
  /** Sends that were read. They may have any value of a label. */
  readonly sends: readonly Send[];
}

/** Returns the windows to look at, each once: of the configured limits, of those that hold calls back, and of the sends. */
export function limitWindows(
  accounts: readonly LimitedAccount[],
  { since, now, full, sends }: LimitSearch,
): Iterable<LimitWindow> {
  const found = new Map<string, LimitWindow>();
  const add = (limit: CallLimit, at: number): void => {
    found.set([limit.payer, limit.currency, spendWindow(limit.per, at).id].join(' '), { limit, at });
  };
  for (const account of accounts) {
    const { credential } = account;
    const named = full.flatMap(({ payer }) => limitsOfPayer(credential, account, payer));
    for (const limit of [...configuredLimits(credential, account), ...named]) {
      let at = since;
      for (let windows = 0; at <= now && windows < MOST_WINDOWS; windows += 1) {
        add(limit, at);
        at = spendWindow(limit.per, at).endsAt;
      }
    }
    const own = sends.filter(({ sent }) => credentialOf(sent.account) === credential);
    for (const send of own)
      for (const limit of limitsOfSend(account, send)) add(limit, Date.parse(send.sent.at));
  }
  return found.values();
}

/** Returns the notices about a limit in a window. */
export async function limitNotices(
  journal: CreateJournal,
  place: NoticePlace,
  { limit, at }: LimitWindow,
  { now, full }: Pick<LimitSearch, 'now' | 'full'>,
): Promise<readonly Notice[]> {
  const { payer, currency, microUnits, per } = limit;
  const { spent: used, endsAt } = await spendBooksOf(journal).spentIn(limit, at);
  const window = spendWindow(per, at).id;
  const isFull = full.some(
    (one) => one.payer === payer && one.per === per && Date.parse(one.endsAt) === endsAt,
  );
  const percents = reached(used, microUnits, isFull);
  if (percents.length === 0) return [];
  // All queues with this journal spend the same money. Another journal may have an account of the same name.
  const { journalId } = await journal.identity();
  return percents.map((percent) =>
    makeNotice(place, 'limit.reached', [journalId, payer, currency, window, microUnits, percent], now, {
      account: payer,
      percent,
      used,
      limit: { microUnits, currency },
      per,
      window,
    }),
  );
}

/** What a running campaign's state and an ended campaign's result say. */
interface CampaignFacts {
  readonly campaign: string;
  readonly startedAt: string;
  readonly counts: { readonly [outcome: string]: number };
  readonly budget: {
    /** Micro-units, or null if something is missing. */
    readonly total: number | null;
    readonly currency: string | null;
    readonly parts: { readonly [part: string]: number };
    /** Whether all batches have reported. Until then, all that a batch may spend counts as reserved. */
    readonly isKnown: boolean;
  };
}

/** Reads a state or result that any client's workflow may have returned. */
function campaignFacts(campaign: string, value: unknown): CampaignFacts {
  const [budget, batches] = [fieldOf(value, 'budget'), fieldOf(value, 'batches')];
  const total = fieldOf(budget, 'total');
  return {
    ...{ campaign, startedAt: plainId(fieldOf(value, 'startedAt')) ?? '' },
    counts: numbersIn(fieldOf(value, 'counts')),
    budget: {
      total: plainNumber(fieldOf(total, 'microUnits')),
      currency: plainWord(fieldOf(total, 'currency')),
      parts: numbersIn(budget),
      isKnown: !Array.isArray(batches) || batches.every((batch) => fieldOf(batch, 'lastReportAt') !== null),
    },
  };
}

/** Row outcomes that need a person, with the notice about them and the command that lists them. */
const ROWS = [
  ['unconfirmed', 'call.unconfirmed'],
  ['results_lost', 'call.results_lost'],
] as const satisfies readonly (readonly [RowOutcome, Notice['type']])[];

/** Returns the notices about a campaign's rows and budget. @param value its state or result */
export function campaignNotices(
  place: NoticePlace,
  id: string,
  value: unknown,
  now: number,
): readonly Notice[] {
  const facts = campaignFacts(id, value);
  const { campaign, startedAt, counts } = facts;
  const command = `temporal-media campaign report ${idArgument(campaign)}`;
  const rows = ROWS.flatMap(([outcome, type]) => {
    const count = counts[outcome] ?? 0;
    if (count <= 0) return [];
    // One notice for the first row, the tenth, the hundredth …: thousands of rows may fail for the same reason.
    const magnitude = Math.floor(Math.log10(count));
    return [
      makeNotice(place, type, [campaign, startedAt, magnitude], now, { campaign, rows: count, command }),
    ];
  });
  return [...rows, ...budgetNotices(place, facts, now)];
}

function budgetNotices(
  place: NoticePlace,
  { campaign, startedAt, counts, budget }: CampaignFacts,
  now: number,
): readonly Notice[] {
  const { total, currency, isKnown } = budget;
  if (total === null) return [];
  const { spent = 0, reserved = 0, review = 0 } = budget.parts;
  const used = spent + review + (isKnown ? reserved : 0);
  return reached(used, total, (counts['skipped_budget'] ?? 0) > 0).map((percent) =>
    makeNotice(place, 'budget.reached', [campaign, startedAt, total, percent], now, {
      ...{ campaign, percent, used, spent, reserved, review, budget: { microUnits: total, currency } },
      command: `temporal-media campaign status ${idArgument(campaign)}`,
    }),
  );
}
