import { limitsOfSend, spendBooksOf } from 'temporal-media/internal/activities/spend-book';
import { type Send } from 'temporal-media/internal/domain/log-entries';
import {
  type CallLimit,
  configuredLimits,
  formatMoney,
  limitsOfPayer,
} from 'temporal-media/internal/domain/money';
import { credentialOf } from 'temporal-media/internal/domain/names';
import { type AccountSettings, accountsOf } from 'temporal-media/internal/settings/accounts';
import { type MediaConfig } from 'temporal-media/worker';
import { amountOf } from '../campaign/options';
import { type CommandContext } from '../shared/context';
import { badInput, CliError } from '../shared/errors';
import { textTable } from '../shared/progress-view';
import { userName } from '../unconfirmed/run';
import { callsIn, type Place } from './calls';

/** A limit and how much of its current window is used. Money is in micro-units. */
interface LimitInUse {
  /** The account, or `ACCOUNT/LABEL=VALUE`. */
  readonly payer: string;
  readonly per: CallLimit['per'];
  readonly currency: string;
  readonly limit: number;
  /** What persons have allowed in addition, and is still in force. */
  readonly allowed: number;
  /** Spent or reserved. */
  readonly spent: number;
  readonly left: number;
  /** When the next window begins, ISO 8601. */
  readonly endsAt: string;
  readonly whenReached: CallLimit['whenReached'];
}

/** Shows every limit of this machine's accounts. Labels without a configured amount are found in the journal. */
export async function showLimits({ report }: CommandContext, place: Place): Promise<void> {
  const limits = new Map<string, CallLimit>();
  const add = (found: readonly CallLimit[]): void => {
    for (const limit of found) limits.set(`${limit.payer} ${limit.per}`, limit);
  };
  const accounts = accountsOf(place.config);
  for (const account of accounts) add(configuredLimits(account.credential, account));
  // No window is longer than a month.
  const since = Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth());
  if (accounts.some(({ limits: ofLabels }) => ofLabels?.some(({ each }) => each !== null) === true))
    for await (const calls of callsIn({ ...place, namespace: null }, { since, until: Infinity }))
      for (const { send } of calls) add(limitsOfSend(accountOf(accounts, send), send));
  const rows = await Promise.all([...limits.values()].map((limit) => inUse(place, limit)));
  if (rows.length > 0) for (const line of textTable(tableOf(rows))) report.result(line);
  else report.say('No account on this machine has a limit: set spendLimit or limits in MEDIA_ACCOUNTS.');
  report.reply({ ok: true, data: { limits: rows } });
}

async function inUse({ journal }: Place, limit: CallLimit): Promise<LimitInUse> {
  const { payer, per, currency, microUnits, whenReached } = limit;
  const { spent, allowed, endsAt } = await spendBooksOf(journal).used(limit);
  const left = Math.max(0, microUnits + allowed - spent);
  const ends = new Date(endsAt).toISOString();
  return { payer, per, currency, limit: microUnits, allowed, spent, left, endsAt: ends, whenReached };
}

function tableOf(rows: readonly LimitInUse[]): readonly (readonly string[])[] {
  const money = (microUnits: number): string => formatMoney({ microUnits, currency: null });
  const head = [
    'PAYER',
    'PER',
    'CURRENCY',
    'LIMIT',
    'ALLOWED',
    'SPENT',
    'LEFT',
    'NEXT WINDOW',
    'WHEN REACHED',
  ];
  return [
    head,
    ...rows.map((row) => [
      ...[row.payer, row.per, row.currency, money(row.limit), money(row.allowed), money(row.spent)],
      ...[money(row.left), row.endsAt, row.whenReached],
    ]),
  ];
}

function accountOf(accounts: readonly AccountSettings[], { sent }: Send): AccountSettings | undefined {
  return accounts.find(({ credential }) => credential === credentialOf(sent.account));
}

/** An allowance, as a person enters it. */
export interface Allowance {
  /** An account, or `LABEL=VALUE`. */
  readonly who: string;
  readonly amount: string;
  readonly account?: string;
  /** Milliseconds since the Unix epoch. Undefined for the end of the limit's current window. */
  readonly until: number | undefined;
  readonly reason: string;
  readonly by?: string;
}

const NOTHING = 'Nothing was allowed. `temporal-media money limits` shows what has a limit.';

/** Allows a limit's payer more money for a time; 0 takes back what was allowed. Waiting calls continue. @throws CliError */
export async function allowMore(
  { report }: CommandContext,
  place: Place,
  { who, amount, account, until, reason, by = userName() }: Allowance,
): Promise<void> {
  const limit = limitFor(place.config, who, account);
  const given = amountOf('amount', amount);
  const currency = given?.currency ?? limit.currency;
  if (given === undefined || currency !== limit.currency)
    throw badInput([{ field: 'amount', message: `must be an amount in ${limit.currency}.` }], NOTHING);
  if (reason.trim() === '') throw badInput([{ field: '--reason', message: 'must not be empty.' }], NOTHING);
  const books = spendBooksOf(place.journal);
  const end = until ?? (await books.used(limit)).endsAt;
  if (end <= Date.now()) throw badInput([{ field: '--until', message: 'must be in the future.' }], NOTHING);
  const { microUnits } = given;
  await books.allow(limit, { microUnits, until: new Date(end).toISOString(), by, reason });
  const row = await inUse(place, limit);
  const money = (amountLeft: number): string => formatMoney({ microUnits: amountLeft, currency });
  const { payer, per } = limit;
  report.say(
    microUnits === 0
      ? `What was allowed to ${payer} is taken back.`
      : `${payer} may spend ${money(microUnits)} more per ${per} until ${new Date(end).toISOString()}, ${money(row.allowed)} in all.`,
  );
  report.say(`${money(row.left)} is left in this ${per}. Calls that wait continue within 15 minutes.`);
  if (row.spent === 0)
    report.say(`Nothing was spent for ${payer} in this ${per}: make sure that the name is right.`);
  report.result(limit.payer);
  report.reply({ ok: true, data: row });
}

function limitFor(config: MediaConfig, who: string, name: string | undefined): CallLimit {
  const found = accountsOf(config).flatMap((account) => {
    const { credential } = account;
    if (name !== undefined && name !== credential) return [];
    return limitsOfPayer(credential, account, who === credential ? who : `${credential}/${who}`);
  });
  const [limit, ...others] = found;
  // An allowance applies to all windows of a payer.
  if (others.some(({ payer, currency }) => payer !== limit?.payer || currency !== limit.currency))
    throw badInput([{ field: '--account', message: 'is required: several accounts limit this.' }], NOTHING);
  if (limit !== undefined) return limit;
  throw new CliError('not_found', `No account on this machine limits ${who}.`, {
    hint: 'Pass an account with a spendLimit, or LABEL=VALUE of one of its limits. `temporal-media money limits` shows them.',
  });
}
