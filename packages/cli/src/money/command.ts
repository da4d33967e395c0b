import { type Command, Option } from 'commander';
import {
  collect,
  type CommandContext,
  type CommonOptions,
  effectiveConfig,
  effectiveEnvironment,
  withCommonOptions,
} from '../shared/context';
import { badInput } from '../shared/errors';
import { durationOf } from '../shared/paid-options';
import { type Period } from './calls';
import { type CheckOptions } from './check-request';
import { type Allowance } from './limits';
import { type Settlement } from './settle';
import { type Dimension, type TotalsFormat } from './totals';

interface PeriodOptions extends CommonOptions {
  readonly since?: string;
  readonly until?: string;
}

interface ReviewOptions extends PeriodOptions {
  readonly limit: string;
}

interface ReportOptions extends PeriodOptions {
  readonly by?: readonly string[];
  readonly format: TotalsFormat;
}

type AllowOptions = CommonOptions &
  Pick<Allowance, 'account' | 'reason' | 'by'> & { readonly until?: string };

type SettleOptions = CommonOptions & Omit<Settlement, 'id'>;

const DIMENSIONS: readonly string[] = [
  'day',
  'month',
  'account',
  'model',
  'campaign',
  'operation',
  'outcome',
];

/** Adds `money`, which shows what calls cost and records bills. */
export function addMoneyCommand(program: Command, context: CommandContext): void {
  const money = program
    .command('money')
    .description('show what calls cost, record bills, and see and raise limits')
    .addHelpText('after', HELP);
  withPeriod(
    money
      .command('review')
      .description('list calls that may have cost money and have no bill, oldest first')
      .option('--limit <n>', 'most calls to list', '1000'),
  ).action(async (options: ReviewOptions) => {
    const period = periodOf(options);
    const { reviewCalls } = await import('./calls.js');
    await reviewCalls(context, await placeOf(context, options), period, limitOf(options.limit));
  });
  withCommonOptions(
    money
      .command('settle')
      .description("record a call's bill in the journal")
      .argument('<key-or-task>', 'creation key (the id passed at the start), or task id')
      .requiredOption(
        '--amount <amount>',
        'all that the send cost: 0.35USD; none; -0.10USD if more was credited',
      )
      .requiredOption('--reference <text>', 'identifies the bill, such as "invoice 2026-11"')
      .requiredOption('--reason <text>', 'reason for the entry, recorded in the journal')
      .option('--by <name>', 'person who records it (default: current user)')
      .option('--send <id>', 'id of the billed send, for a call that was sent several times'),
  ).action(async (id: string, options: SettleOptions) => {
    const { settleCall } = await import('./settle.js');
    await settleCall(context, await placeOf(context, options), { ...options, id });
  });
  withPeriod(
    money
      .command('report')
      .description('add up estimates and bills')
      .option(
        '--by <dimension>',
        `group by ${DIMENSIONS.join(', ')} or label:NAME; repeat it, or separate several by commas`,
        collect,
      )
      .addOption(
        new Option('--format <format>', 'format on stdout without -o; json is the data of -o json')
          .choices(['table', 'csv', 'json'])
          .default('table'),
      ),
  ).action(async (options: ReportOptions) => {
    const [period, by] = [periodOf(options), dimensionsOf(options.by)];
    const { reportMoney } = await import('./totals.js');
    await reportMoney(context, await placeOf(context, options), { period, by, format: options.format });
  });
  addLimitCommands(money, context);
  addCheckCommand(money, context);
}

/** Adds the commands about limits of accounts and labels. */
function addLimitCommands(money: Command, context: CommandContext): void {
  withCommonOptions(
    money
      .command('limits')
      .description(
        "show the limits of this machine's accounts, what is used, and when the next window begins",
      ),
  ).action(async (options: CommonOptions) => {
    const { showLimits } = await import('./limits.js');
    await showLimits(context, await placeOf(context, options));
  });
  withCommonOptions(
    money
      .command('allow')
      .description('raise a limit for a time, so that calls that wait for it continue')
      .argument('<who>', 'an account, or a label such as tenant=acme')
      .argument(
        '<amount>',
        'how much more may be spent in each window, in addition to earlier ones: 20USD; 0 takes all of them back',
      )
      .requiredOption('--reason <text>', 'reason for the entry, recorded in the journal')
      .option(
        '--until <time>',
        'when it ends: 2026-12-01, 2026-12-01T12:00:00Z (default: the end of the window)',
      )
      .option('--account <name>', 'the account, if several limit this label')
      .option('--by <name>', 'person who allows it (default: current user)'),
  ).action(async (who: string, amount: string, { until, ...options }: AllowOptions) => {
    const end = until === undefined ? undefined : timeOf('--until', until);
    const { allowMore } = await import('./limits.js');
    await allowMore(context, await placeOf(context, options), { ...options, who, amount, until: end });
  });
}

/** Adds `money check`, which holds an invoice against the journal. */
function addCheckCommand(money: Command, context: CommandContext): void {
  const command = money
    .command('check')
    .description("compare the provider's invoice with the journal, and record its bills with --apply")
    .argument('<invoice.csv>', 'CSV export with a line for each charge')
    .option('--task-column <name>', 'column with task ids (default: task_id, task or video_id)')
    .option('--key-column <name>', 'column with idempotency keys or request ids; images need it')
    .option('--amount-column <name>', 'column with amounts; negative ones are credits')
    .option('--currency-column <name>', 'column with currencies')
    .option('--currency <code>', 'currency of amounts without one, such as USD')
    .addOption(new Option('--decimal <mark>', 'decimal mark of all amounts').choices(['.', ',']))
    .option('--time-column <name>', 'column with times; its first and last time are the period')
    .option('--model-column <name>', 'column with models')
    .option('--status-column <name>', "column with the service's final status")
    .option('--total <amount>', 'sum that the lines must have')
    .option('--account <name>', 'only calls of this account, whose invoice it is')
    .option('--tolerance <amount>', 'allowed difference from the estimate: 0.01 or 2%', '0')
    .option(
      '--results <file>',
      'results.jsonl of a campaign report, which says what failed; repeatable',
      collect,
    )
    .option('--apply', 'record the bills')
    .option('--reference <text>', "identifies these bills (default: made from the file's content)")
    .option('--corrects <reference>', 'reference of earlier bills that this file replaces')
    .option(
      '--missing-are-free',
      'record 0 for calls of the period that the invoice does not bill; needs --account if there are several',
    )
    .option('--by <name>', 'person who records the bills (default: current user)')
    .option('--out <file.csv>', 'write all findings to a file')
    .option('--limit <n>', 'most findings to list', '1000');
  withPeriod(command)
    .addHelpText('after', CHECK_HELP)
    .action(async (file: string, options: CheckOptions) => {
      const [{ checkInvoice }, { checkRequest }] = await Promise.all([
        import('./check-invoice.js'),
        import('./check-request.js'),
      ]);
      const [period, limit] = [periodOf(options), limitOf(options.limit)];
      const request = checkRequest(file, options, { period, limit });
      await checkInvoice(context, await placeOf(context, options), request);
    });
}

const CHECK_HELP = `
Nothing is written without --apply. Exits with 5 if the invoice bills calls that this journal did not send, and with 8 for
other differences. A line is matched by its task id, or by the key column. Lines with the same id are added up. A line that no
call explains is shown with sends of unknown fate that it may be; decide about these with \`unconfirmed\`. Check an invoice
before \`journal prune\` removes its calls.

Examples:
  $ temporal-media money check invoice.csv
  $ temporal-media money check invoice.csv --since 2026-11 --until 2026-12 --total 1234.56 --out differences.csv
  $ temporal-media money check invoice.csv --task-column "Job ID" --amount-column Net --currency EUR --decimal ,
  $ temporal-media money check invoice.csv --apply --reference "invoice 2026-11"
`;

const HELP = `
These commands open the workers' journal directly and need no Temporal server. Run them where a worker runs, as its user
and with its MEDIA_JOURNAL, TEMPORAL_NAMESPACE and version: earlier workers cannot read a key that has a bill. A bill
changes nothing about what is sent or bought. Only the newest bill of a send counts. To correct one, or after a credit, record
all that the send cost under another reference. \`journal prune\` removes bills with their calls.

\`review\` says why a call is listed: unconfirmed (its reply was lost), results_lost, rejected_after_validation, or not_billed (it
was bought). In \`report\`, actual adds up bills, and cost also the estimates of sends without a bill. A send without either is
counted as unpriced, never as free.

Examples:
  $ temporal-media money review --until 2026-11
  $ temporal-media money settle sku-1 --amount 0.35USD --reference "invoice 2026-11" --reason "line 12"
  $ temporal-media money settle vid_0b1c --amount none --reference "invoice 2026-11" --reason "not on the invoice"
  $ temporal-media money report --since 2026-11 --until 2026-12 --by day,label:tenant --format csv
  $ temporal-media money allow tenant=acme 20USD --reason "launch week"
`;

function withPeriod(command: Command): Command {
  return withCommonOptions(
    command
      .option('--since <time>', 'only calls sent at or after this time: 7d, 2026-11, 2026-11-01 (UTC)')
      .option('--until <time>', 'only calls sent before this time'),
  );
}

function periodOf({ since, until }: PeriodOptions): Period {
  const period = {
    since: since === undefined ? -Infinity : timeOf('--since', since),
    until: until === undefined ? Infinity : timeOf('--until', until),
  };
  if (period.since < period.until) return period;
  throw badInput([{ field: '--until', message: 'must be later than --since.' }], UNCHANGED);
}

const UNCHANGED = 'Nothing was changed.';

function timeOf(field: string, text: string): number {
  const isDate = /^\d{4}-\d\d(-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?)?$/.test(text);
  const ago = durationOf(text);
  const time = isDate ? Date.parse(text) : Date.now() - (ago ?? Number.NaN);
  if (!Number.isNaN(time)) return time;
  throw badInput(
    [{ field, message: 'must be a time such as 2026-11, 2026-11-01, 2026-11-01T12:00:00Z or 7d (ago).' }],
    UNCHANGED,
  );
}

const MOST_LISTED = 100_000;

function limitOf(text: string): number {
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= MOST_LISTED) return limit;
  throw badInput([{ field: '--limit', message: `must be a number from 1 to ${MOST_LISTED}.` }], UNCHANGED);
}

function dimensionsOf(given: readonly string[] = []): readonly Dimension[] {
  const names = given.flatMap((text) => text.split(','));
  const known = names.filter((name): name is Dimension => DIMENSIONS.includes(name) || /^label:./.test(name));
  if (known.length === names.length) return [...new Set(known)];
  throw badInput(
    [{ field: '--by', message: 'has an unknown dimension.', allowed: [...DIMENSIONS, 'label:NAME'] }],
    UNCHANGED,
  );
}

async function placeOf(context: CommandContext, options: CommonOptions) {
  const config = effectiveConfig(context, options);
  const [{ findTarget }, { openPlace }] = await Promise.all([
    import('../shared/connect.js'),
    import('./calls.js'),
  ]);
  const env = effectiveEnvironment(context, options);
  const { namespace } = await findTarget(config, env);
  return openPlace(config, namespace, env);
}
