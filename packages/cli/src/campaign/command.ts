import { type Command, Option } from 'commander';
import { collect, type CommandContext, type CommonOptions, withCommonOptions } from '../shared/context';
import { badInput } from '../shared/errors';
import { type DecideOptions, withDecisionOptions, withLabelOptions } from '../shared/paid-options';
import {
  type RunOptions,
  type ResumeRowsCommandOptions,
  withConsentOptions,
  withRunOptions,
} from './options';

/** Adds `campaign`, which buys each row in a manifest once, within a budget. */
export function addCampaignCommand(program: Command, context: CommandContext): void {
  const campaign = program
    .command('campaign')
    .description('create thousands of videos and images from a manifest, within a budget')
    .addHelpText('after', HELP);
  addInit(campaign, context);
  addRun(campaign, context);
  addFollowing(campaign, context);
  addOrders(campaign, context);
  addResumes(campaign, context);
  addCampaignRowCommands(campaign, context);
}

const HELP = `
A manifest is CSV with a header, JSON lines or a JSON list, with one row for each video, image or edit. Ctrl-C detaches from
a campaign but never cancels it.
Exit code, first match: 5 rows wait for a decision, 75 rows are still running (resume), 5 canceled, 5 rows failed,
5 the budget is spent, 5 the text of bought rows has changed, 0 every row completed.

Examples:
  $ temporal-media campaign init films.csv
  $ temporal-media campaign run films.csv --dry-run
  $ temporal-media campaign run films.csv --id spring --budget 200USD --out spring
  $ temporal-media campaign status spring
`;

const ID = ['<id>', 'campaign id'] as const;

function addInit(campaign: Command, context: CommandContext): void {
  withCommonOptions(
    campaign
      .command('init')
      .description('write a manifest template; never overwrites a file')
      .argument('[file]', 'ends in .csv or .jsonl', 'campaign.csv'),
  ).action(async (file: string, options: CommonOptions) => {
    const { initManifest } = await import('./template.js');
    await initManifest(context, file, options);
  });
}

function addRun(campaign: Command, context: CommandContext): void {
  const run = campaign
    .command('run')
    .description('validate a manifest, start or attach to its campaign, wait, and update a report')
    .argument('[manifest]', 'CSV or JSON: a file, - for stdin, a URL, or artifact:sha256/HASH')
    .option('--id <id>', 'campaign id; reusing an id buys only rows without a result (default: a new id)')
    .addOption(
      new Option('--format <format>', 'manifest format (default: detected from its first character)').choices(
        ['csv', 'jsonl'],
      ),
    )
    .option('--dry-run', 'show rows, models, prices and invalid rows; sends nothing and needs no server')
    .addOption(
      new Option('--on-invalid <what>', 'if rows are invalid: send nothing (fail), or skip those rows')
        .choices(['fail', 'skip'])
        .default('fail'),
    )
    .option('--limit <number>', 'run only the first N rows; run the others later with the same id')
    .option('--sample <number>', 'run only N rows, spread evenly over the manifest')
    .option('--rebuy-changed', 'buy a row again if its text has changed since it was bought')
    .option('--account <name>', "name of the worker's credential to use")
    .option(
      '--prompts <file>',
      'use a file with one prompt per line instead of a manifest (- for stdin); requires --model',
    )
    .option('--model <id>', 'with --prompts: model for all rows, sent exactly as given')
    .option('--duration <seconds>', 'with --prompts: duration of every video, in whole seconds')
    .option('--resolution <value>', 'with --prompts: resolution of every video, for example 720p')
    .option('--aspect-ratio <ratio>', 'with --prompts: aspect ratio of every video, for example 16:9')
    .option('--size <WxH>', 'with --prompts: size of every image, for example 1024x1024')
    .option('--quality <value>', 'with --prompts: quality of every image')
    .option('--n <number>', 'with --prompts: number of results for each image row')
    .option(
      '--field <name=value>',
      'with --prompts: model-specific field for every row; can be repeated',
      collect,
    );
  withCommonOptions(withConsentOptions(withLabelOptions(withRunOptions(run))))
    .addHelpText('after', RUN_HELP)
    .action(async (manifest: string | undefined, options: RunOptions) => {
      const { runCampaignCommand } = await import('./run.js');
      await runCampaignCommand(context, manifest, options);
    });
}

const RUN_HELP = `
Every row is validated before anything is sent, and problems are reported with their line number in the manifest. A row is
identified by its id column, or by its content if it has no id, never by its line number. Rows can reference local files
below the manifest's folder (file:PATH); these are sent through the artifact store.
The estimate assumes one attempt per row. A row can be retried after capacity failures, and every attempt may be charged.
The maximum cost with retries is shown next to the estimate, and --budget limits it. With --max-spend, a start that may
cost more must be confirmed; without a terminal, the command exits with code 6.

Examples:
  $ temporal-media campaign run films.csv --limit 10 --id spring --out spring
  $ temporal-media campaign run films.csv --id spring --out spring --max-spend 50USD
  $ temporal-media campaign run --prompts prompts.txt --model cine-1 --duration 4 --resolution 720p --budget 20USD
  $ jq -c '{id: .sku, model: "cine-1", prompt: .text}' shop.jsonl | temporal-media campaign run - --detach
`;

function addFollowing(campaign: Command, context: CommandContext): void {
  withCommonOptions(
    campaign
      .command('status')
      .description("show a campaign's state: rows, money, rate, and what is safe to do")
      .argument(...ID)
      .option('--batches', 'also list its open batches'),
  ).action(async (id: string, options: CommonOptions & { readonly batches?: boolean }) => {
    const { showCampaignStatus } = await import('./status.js');
    await showCampaignStatus(context, named('id', id), options);
  });
  withCommonOptions(
    campaign
      .command('watch')
      .description("show a campaign's progress until it ends; starts nothing")
      .argument(...ID)
      .option('--out <dir>', 'keep a report up to date in this folder'),
  ).action(async (id: string, options: CommonOptions & { readonly out?: string }) => {
    const { watchCampaign } = await import('./watch.js');
    await watchCampaign(context, named('id', id), options);
  });
  withCommonOptions(
    campaign
      .command('report')
      .description('write or refresh the report: results.jsonl, results.csv, media and a gallery')
      .argument(...ID)
      .option('--out <dir>', 'folder for the report (default: named after the id)')
      .option('--zip <file>', 'also pack the report into this ZIP file')
      .option('--force', 'replace an existing ZIP file'),
  ).action(async (id: string, options: CommonOptions) => {
    const { reportCampaign } = await import('./report-results.js');
    await reportCampaign(context, named('id', id), options);
  });
  withCommonOptions(
    campaign
      .command('list')
      .description("list the namespace's campaigns, running ones first, then newest first")
      .option('--limit <number>', 'maximum number of campaigns (default: 20)'),
  ).action(async (options: CommonOptions) => {
    const { showCampaigns } = await import('./status.js');
    await showCampaigns(context, options);
  });
}

function addOrders(campaign: Command, context: CommandContext): void {
  const orders = [
    ['pause', 'stop buying until resumed; tasks in flight are still collected'],
    ['cancel', 'stop buying and end; tasks in flight are still collected, and bought results are kept'],
  ] as const;
  for (const [order, about] of orders)
    withCommonOptions(
      campaign
        .command(order)
        .description(about)
        .argument(...ID),
    ).action(async (id: string, options: CommonOptions) => {
      const { orderCampaign } = await import('./orders.js');
      await orderCampaign(context, named('id', id), order, options);
    });
  withCommonOptions(
    withConsentOptions(
      campaign
        .command('set')
        .description('change a running campaign')
        .argument(...ID)
        .option('--concurrency <number>', 'maximum videos in flight')
        .option(
          '--priority <number>',
          'from 1 to 5, for rows that no batch has taken; lower numbers go first',
        )
        .option('--budget <amount>', 'maximum spend; creates stop when it is reached: 200, 200USD'),
    ),
  ).action(async (id: string, options: CommonOptions) => {
    const { setCampaign } = await import('./orders.js');
    await setCampaign(context, named('id', id), options);
  });
}

function addResumes(campaign: Command, context: CommandContext): void {
  const resumeRows = (how: 'resume' | 'retry') => async (id: string, options: ResumeRowsCommandOptions) => {
    const { resumeRowsOf } = await import('./orders.js');
    await resumeRowsOf(context, named('id', id), how, options);
  };
  withCommonOptions(
    withConsentOptions(
      withRunOptions(
        campaign
          .command('resume')
          .description(
            'continue after a pause, or with rows that are still running, settled, skipped or canceled',
          )
          .argument(...ID),
        { goesOn: true },
      ),
    ),
  )
    .addHelpText('after', RESUME_HELP)
    .action(resumeRows('resume'));
  withCommonOptions(
    withConsentOptions(
      withRunOptions(
        campaign
          .command('retry')
          .description('buy a new attempt of each failed row')
          .argument(...ID)
          .option(
            '--outcome <outcome>',
            'retry rows with this outcome; can be repeated (default: failed and rejected)',
            collect,
          ),
        { goesOn: true },
      ),
    ),
  ).action(resumeRows('retry'));
}

const RESUME_HELP = `
Rows keep their creation keys, so a row that was already bought is fetched or adopted, never bought again. Rows that have
not been bought yet are bought, within the budget and the --limit or --sample of the last run. To buy the remaining rows,
use \`campaign run MANIFEST --id ID\` without that option. --wait-for and --max-attempts do not affect a running campaign;
they apply from its next start.

Examples:
  $ temporal-media campaign resume spring --out spring
  $ temporal-media campaign resume spring --budget 300USD
`;

/** @throws CliError for an empty argument */
function named(field: string, value: string): string {
  if (value.trim() !== '') return value;
  throw badInput([{ field, message: 'must not be empty.' }]);
}

/** Adds `campaign adopt` and `campaign declare-lost`, which record a person's decision about an unconfirmed row. */
function addCampaignRowCommands(campaign: Command, context: CommandContext): void {
  withDecisionOptions(
    campaign
      .command('adopt')
      .description(
        'decide that an unconfirmed row was accepted as this task, and continue with it; costs nothing more',
      )
      .argument('<id>', 'campaign id')
      .argument('<row>', 'row id, or the key shown in the results')
      .argument('<task>', "task id from the service's records"),
  ).action(async (id: string, key: string, taskId: string, options: DecideOptions) => {
    const { decideRow } = await import('./orders.js');
    await decideRow(context, id, { key, taskId }, options);
  });
  withDecisionOptions(
    campaign
      .command('declare-lost')
      .description('decide that an unconfirmed row was not accepted')
      .argument('<id>', 'campaign id')
      .argument('<row>', 'row id, or the key shown in the results'),
  ).action(async (id: string, key: string, options: DecideOptions) => {
    const { decideRow } = await import('./orders.js');
    await decideRow(context, id, { key }, options);
  });
}
