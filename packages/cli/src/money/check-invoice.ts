/**
 * Holds the provider's invoice against the log of sends.
 *
 * Both are large, so neither is read into the other. The invoice is read once and kept as one small object per billed
 * call (read-invoice). The journal is then read once, page by page, and nothing of a page is kept but its findings:
 * each send looks up its lines by what both sides know for certain. That is the task id of a video. The log has no id
 * of an image's reply, so an image is found only by a column with its idempotency key, or with the request id of a
 * reply that was not understood. What is left over on either side is a difference. `--apply` reads the journal a second
 * time, when it is known which lines are unclear, and appends the bills behind whatever workers append.
 *
 * A line that no send explains is never assigned. It is shown beside the sends of unknown fate that fit its account,
 * model and time, and a person decides.
 */
import { createReadStream } from 'node:fs';
import { type LedgerLine } from 'temporal-media';
import { countBill } from 'temporal-media/internal/activities/spend-book';
import { throwBug } from 'temporal-media/internal/domain/bug';
import { type BillEntry, type LogEntry } from 'temporal-media/internal/domain/log-entries';
import { mapConcurrently } from 'temporal-media/internal/domain/map-concurrently';
import { formatMoney } from 'temporal-media/internal/domain/money';
import { credentialOf } from 'temporal-media/internal/domain/names';
import { recordBill } from 'temporal-media/internal/domain/record-bill';
import { linesOf, manifestText } from 'temporal-media/internal/manifest/manifest-text';
import { type CommandContext } from '../shared/context';
import { badInput, CliError } from '../shared/errors';
import { type Report } from '../shared/report';
import { callsOf, logPages, orUnusable, type Period, type Place } from './calls';
import { FoundList, findingsTable } from './check-findings';
import {
  billedLinesOf,
  type CheckFinding,
  type CheckScope,
  FINDINGS,
  judgeSend,
  unclearCall,
} from './check-judge';
import { LineBook, Models } from './check-lines';
import {
  type Invoice,
  type InvoiceFormat,
  invoiceError,
  LINES_PER_REPORT,
  type LooseLine,
  readInvoice,
} from './read-invoice';

/** What `money check` was asked for. */
export interface CheckRequest {
  readonly file: string;
  readonly format: Omit<InvoiceFormat, 'progress'>;
  readonly account: string | undefined;
  /** Without a limit, infinite. */
  readonly period: Period;
  readonly tolerance: CheckScope['tolerance'];
  /** Undefined for one that is made from the file's content. */
  readonly reference: string | undefined;
  readonly corrects: string | undefined;
  readonly missingAreFree: boolean;
  readonly results: readonly string[];
  readonly apply: boolean;
  readonly by: string;
  readonly limit: number;
  readonly out: string | undefined;
}

interface Applied {
  recorded: number;
  /** Micro-units of the recorded bills. */
  amount: number;
}

/** Checks an invoice, and records its bills with `apply`. @throws CliError for an unusable invoice, and for differences */
export async function checkInvoice(
  { report }: CommandContext,
  place: Place,
  request: CheckRequest,
): Promise<void> {
  const { file, format, out, limit, apply } = request;
  const progress = (what: string) => (count: number) => report.say(`${what} ${count}…`);
  const invoice = await readInvoice(file, { ...format, progress: progress('Invoice lines read:') });
  sayHowRead(report, invoice, format.total !== undefined);
  if (apply && !invoice.endsWithBreak && format.total === undefined)
    throw invoiceError(
      'Its last line has no line break, so the file may have been cut off inside an amount. To record its bills anyway, pass the sum of its amounts in --total.',
    );
  const mayBill = request.missingAreFree
    ? await unexplainedLines(place, invoice, request.account)
    : { images: false, videos: false };
  const failedTasks = await readFailedTasks(request.results);
  const scope = scopeOf(request, place, invoice, { failedTasks, mayBill });
  const found = new FoundList(limit, out);
  const lines = new LineBook(scope);
  const scanned = { keys: 0, agreed: 0, unrecorded: 0 };
  try {
    for await (const log of logsIn(place, progress('Creation keys checked:'))) {
      scanned.keys += 1;
      for (const call of callsOf(log)) {
        const isOwn = call.send.sent.namespace === place.namespace;
        const isBilled = lines.match(call, isOwn);
        if (!isOwn) continue;
        const { finding, bill } = judgeSend(scope, call);
        if (bill !== null) scanned.unrecorded += 1;
        if (finding !== null) await found.add(finding);
        else if (isBilled) scanned.agreed += 1;
      }
    }
    if (lines.isUnclear) for await (const finding of unclearCalls(place, scope)) await found.add(finding);
    await found.end(lines.unmatched());
  } catch (error) {
    await found.drop();
    throw error;
  }
  const applied: Applied | null = apply ? { recorded: 0, amount: 0 } : null;
  // Without bills to record, the journal is not read again.
  if (applied !== null && scanned.unrecorded > 0)
    await applyBills(place, scope, request.by, applied, progress('Bills recorded:'));
  if (!lines.sawAccount) {
    const whose = request.account === undefined ? '' : ` of account ${request.account}`;
    report.say(`The journal has no call${whose} in namespace ${place.namespace}.`);
  }
  if (found.differences > 0) await announce(report, place, scope, found);
  reportCheck(report, { scope, found, scanned, applied, sawNone: lines.sawNone });
}

/** Sends the notice `bills.differ` if MEDIA_NOTIFY is set. The check counts without it. */
async function announce(
  report: Report,
  { config, env }: Place,
  { reference, invoice }: CheckScope,
  found: FoundList,
): Promise<void> {
  if (!env['MEDIA_NOTIFY']?.trim()) return;
  try {
    const [{ connect }, { announceBills }] = await Promise.all([
      import('../shared/connect.js'),
      import('@temporal-media/notices'),
    ]);
    const { client, taskQueue } = await connect(config, env);
    const microUnits = found.found.reduce((sum, one) => sum + one.billed, 0);
    const billed = { microUnits, currency: invoice.currency };
    // Without the file's name, which is of no use elsewhere.
    const bills = { reference, differing: found.differences, command: 'temporal-media money check' };
    await announceBills(client, taskQueue, { ...bills, billed }, env);
  } catch (error) {
    throwBug(error);
    report.say(`No notice was sent about the differences: ${(error as Error).message}`);
  }
}

function scopeOf(
  { account, period, reference, corrects, tolerance, missingAreFree }: CheckRequest,
  { namespace }: Place,
  invoice: Invoice,
  found: Pick<CheckScope, 'failedTasks' | 'mayBill'>,
): CheckScope {
  const { since, until } = period;
  return {
    ...{ namespace, account, corrects, tolerance, missingAreFree, invoice, ...found },
    // `until` is excluded in options, and included in the scope.
    period: since === -Infinity && until === Infinity ? invoice.period : { since, until: until - 1 },
    reference: reference ?? `invoice ${invoice.digest}`,
    now: Date.now(),
  };
}

function sayHowRead(
  report: Report,
  { columns, rounded, endsWithBreak, totalLine }: Invoice,
  hasTotal: boolean,
): void {
  const named = Object.entries(columns).map(([kind, name]) => `${kind} "${name}"`);
  report.say(`Columns: ${named.join(', ')}.`);
  if (rounded > 0) report.say(`${rounded} amounts have more than six decimals. They were rounded.`);
  if (!hasTotal && (totalLine === null || !endsWithBreak))
    report.say(
      `${endsWithBreak ? '' : 'The last line has no line break. '}Is the file complete? --total checks the sum of its amounts.`,
    );
}

async function* logsIn(place: Place, progress: (keys: number) => void): AsyncGenerator<readonly LogEntry[]> {
  let keys = 0;
  for await (const logs of logPages(place))
    for (const log of logs) {
      yield log;
      keys += 1;
      if (keys % LINES_PER_REPORT === 0) progress(keys);
    }
}

/**
 * Returns what the lines may be about that no call explains. A line with a task is not about a known video, whose task is
 * in the log. Reads the journal before the check does, because only then it is known of the first call.
 * @throws CliError `bad_input` if calls of accounts that the invoice is not about could be recorded as free
 */
async function unexplainedLines(
  place: Place,
  invoice: Invoice,
  account: string | undefined,
): Promise<CheckScope['mayBill']> {
  const { byTask, byKey, loose } = invoice;
  const open = new Set<LooseLine>(loose);
  for (const lines of [byTask, byKey]) for (const line of lines.values()) open.add(line);
  const models = new Models();
  const accounts = new Set<string>();
  for await (const logs of logPages(place))
    for (const { send } of logs.flatMap(callsOf)) {
      const { sent } = send;
      models.note(send);
      if (sent.namespace === place.namespace) accounts.add(credentialOf(sent.account));
      const lines = billedLinesOf(invoice, send);
      if (lines !== undefined) open.delete(lines);
    }
  if (account === undefined && accounts.size > 1)
    throw badInput(
      [
        {
          field: '--account',
          message:
            'is required with --missing-are-free, because the journal has calls of several accounts. Name the one whose invoice this is.',
          allowed: [...accounts].toSorted(),
        },
      ],
      'Nothing was written. Calls of the other accounts would be recorded as free.',
    );
  const withoutTask = [...open].filter((line) => !('taskId' in line) || line.taskId === null);
  return {
    images: [...open].some(({ model }) => models.mayMake('images', model)),
    videos: withoutTask.some(({ model }) => models.mayMake('videos', model)),
  };
}

/** Reads the journal once more, because a first call was judged before the second one was found. */
async function* unclearCalls(place: Place, scope: CheckScope): AsyncGenerator<CheckFinding> {
  for await (const logs of logPages(place))
    for (const call of logs.flatMap(callsOf)) {
      const finding = call.send.sent.namespace === place.namespace ? unclearCall(scope, call) : null;
      if (finding !== null) yield finding;
    }
}

/** Bills that are recorded at the same time. Each reads its log and appends to it. */
const AT_ONCE = 16;
const BILLS_PER_REPORT = 10_000;

/**
 * Records the bills of all calls that the invoice certainly bills. Safe beside workers, and to repeat: a send has one
 * bill per reference.
 */
async function applyBills(
  place: Place,
  scope: CheckScope,
  by: string,
  applied: Applied,
  progress: (bills: number) => void,
): Promise<void> {
  for await (const logs of logPages(place)) {
    const calls = logs.flatMap(callsOf).filter(({ send }) => send.sent.namespace === place.namespace);
    await mapConcurrently(calls, AT_ONCE, async (call) => {
      const { bill } = judgeSend(scope, call);
      if (bill === null) return;
      const { namespace, creationKey, nonce } = call.send.sent;
      const entry: BillEntry = {
        ...{ v: 1, kind: 'bill', about: nonce, ...bill, currency: scope.invoice.currency },
        ...{ source: 'invoice', reference: scope.reference, by, at: new Date().toISOString() },
      };
      const recorded = await orUnusable(recordBill(place.journal, { namespace, creationKey }, entry));
      if (recorded?.isNew !== true) return;
      await orUnusable(countBill(place.journal, recorded.send, entry));
      applied.recorded += 1;
      applied.amount += bill.microUnits;
      if (applied.recorded % BILLS_PER_REPORT === 0) progress(applied.recorded);
    });
  }
}

interface CheckedJournal {
  readonly scope: CheckScope;
  readonly found: FoundList;
  /** `unrecorded`: bills that `apply` records. */
  readonly scanned: { readonly keys: number; readonly agreed: number; readonly unrecorded: number };
  readonly applied: Applied | null;
  /** Whether the journal knows no line at all. */
  readonly sawNone: boolean;
}

function reportCheck(report: Report, { scope, found, scanned, applied, sawNone }: CheckedJournal): void {
  const { invoice, reference, period, account } = scope;
  const { currency, lines, sum, totalLine, columns } = invoice;
  const money = (microUnits: number): string => formatMoney({ microUnits, currency });
  const { shown } = found;
  if (shown.length > 0) for (const line of findingsTable(shown)) report.result(line);
  const count = found.found.reduce((total, one) => total + one.count, 0);
  if (count > shown.length)
    report.say(`These are ${shown.length} of ${count}; --out writes all of them to a file.`);
  const total = totalLine === null ? '' : ` Line ${totalLine} is their total.`;
  report.say(
    `${counted(lines, 'line')}: ${money(sum)}.${total} Agreed: ${counted(scanned.agreed, 'send')}. Checked: ${counted(scanned.keys, 'creation key')}.`,
  );
  for (const { finding, count: times, billed } of found.found)
    report.say(`  ${finding}: ${times}${billed === 0 ? '' : ` (${money(billed)})`}, ${FINDINGS[finding][1]}`);
  if (period === null)
    report.say(
      'Calls that the invoice does not bill were not judged: pass --since and --until, or --time-column.',
    );
  if (applied === null)
    report.say(`--apply would record ${counted(scanned.unrecorded, 'bill')} as "${reference}".`);
  else if (applied.recorded === 0)
    report.say(`Nothing was recorded as "${reference}": no bill is new and certain.`);
  else
    report.say(`Recorded as "${reference}": ${counted(applied.recorded, 'bill')}, ${money(applied.amount)}.`);
  const iso = (time: number): string | null => (Number.isFinite(time) ? new Date(time).toISOString() : null);
  const data = {
    ...{ reference, currency, lines, sum, totalLine, columns, account: account ?? null },
    period: period === null ? null : { since: iso(period.since), until: iso(period.until) },
    ...{ ...scanned, found: found.found, findings: shown, applied },
  };
  const unknown = found.totalsOf('unknown');
  if (unknown.count > 0)
    throw new CliError(
      'invoice_unknown_calls',
      `The invoice bills ${counted(unknown.count, 'call')} that this journal did not send, ${money(unknown.billed)}.`,
      { data, hint: sawNone ? WRONG_COLUMN : undefined },
    );
  if (found.differences > 0)
    throw new CliError(
      'invoice_differs',
      `The invoice and the journal differ in ${counted(found.differences, 'place')}.`,
      {
        data,
      },
    );
  report.say('The invoice and the journal agree.');
  report.reply({ ok: true, data });
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

const WRONG_COLUMN =
  'No line names a call of this journal. Check --task-column, --key-column, MEDIA_JOURNAL and TEMPORAL_NAMESPACE.';

/**
 * Reads which tasks failed from `results.jsonl` of campaigns' reports, because the log of sends does not record how a
 * video ended. @throws CliError `bad_input`
 */
async function readFailedTasks(files: readonly string[]): Promise<ReadonlySet<string>> {
  const failed = new Set<string>();
  for (const file of files) {
    let at = 0;
    try {
      for await (const { line, content } of linesOf(manifestText(createReadStream(file), 'file'))) {
        at = line;
        if (content !== '') for (const task of failedTasks(JSON.parse(content ?? ''))) failed.add(task);
      }
    } catch (error) {
      throwBug(error);
      const why = at === 0 ? 'cannot be read' : `is not a result in line ${at}`;
      throw new CliError('bad_input', `--results: ${file} ${why}.`, {
        hint: 'Pass results.jsonl from `temporal-media campaign report`. Nothing was written.',
      });
    }
  }
  return failed;
}

/** Returns the failed tasks of a row, whose earlier attempts are in its ledger. */
function failedTasks(result: unknown): readonly string[] {
  const { outcome, taskId, ledger } = Object(result) as { readonly [field: string]: unknown };
  if (typeof outcome !== 'string') throw new SyntaxError('This is not a result.');
  const attempts: readonly LedgerLine[] = Array.isArray(ledger) ? ledger.map(Object) : [];
  return [{ outcome, taskId }, ...attempts].flatMap((one) =>
    one.outcome === 'failed' && typeof one.taskId === 'string' ? [one.taskId] : [],
  );
}
