import { type Command, Option } from 'commander';
import { collect, type CommandContext, type CommonOptions, withCommonOptions } from '../shared/context';
import { badInput } from '../shared/errors';
import { type DecideOptions, withDecisionOptions } from '../shared/paid-options';
import {
  type RunOptions,
  type ResumeRowsCommandOptions,
  withConsentOptions,
  withRunOptions,
} from './options';

/** `campaign`: runs thousands of rows of a manifest, each bought once, within a budget. */
export function addCampaignCommand(program: Command, context: CommandContext): void {
  const campaign = program
    .command('campaign')
    .description('videos and images by the thousand: a manifest, a budget, a report')
    .addHelpText('after', HELP);
  addInit(campaign, context);
  addRun(campaign, context);
  addFollowing(campaign, context);
  addOrders(campaign, context);
  addResumes(campaign, context);
  addCampaignRowCommands(campaign, context);
}

const HELP = `
A manifest is CSV with a header, JSON lines or a JSON list: one row for each video, image or edit. Ctrl-C detaches, and never cancels.
Exit codes, the first that applies: 5 rows wait for a decision, 75 rows are still running (resume), 5 cancelled, 5 rows
failed, 5 the budget is spent, 5 the text of bought rows has changed, 0 every row completed.

Examples:
  $ temporal-media campaign init films.csv
  $ temporal-media campaign run films.csv --dry-run
  $ temporal-media campaign run films.csv --id spring --budget 200USD --out spring
  $ temporal-media campaign status spring
`;

const ID = ['<id>', 'id of the campaign'] as const;

function addInit(campaign: Command, context: CommandContext): void {
  withCommonOptions(
    campaign
      .command('init')
      .description('write a template of a manifest; overwrites nothing')
      .argument('[file]', 'ends in .csv or .jsonl', 'campaign.csv'),
  ).action(async (file: string, options: CommonOptions) => {
    const { initManifest } = await import('./template.js');
    await initManifest(context, file, options);
  });
}

function addRun(campaign: Command, context: CommandContext): void {
  const run = campaign
    .command('run')
    .description('validate a manifest, start its campaign or attach to it, wait, keep a report')
    .argument('[manifest]', 'CSV or JSON: a file, - for stdin, a URL, or artifact:sha256/HASH')
    .option('--id <id>', 'id of the campaign: the same id buys only what is missing (default: a new one)')
    .addOption(
      new Option(
        '--format <format>',
        'format of the manifest (default: detected by its first character)',
      ).choices(['csv', 'jsonl']),
    )
    .option('--dry-run', 'show rows, models, price and invalid rows; sends nothing and needs no server')
    .addOption(
      new Option('--on-invalid <what>', 'for invalid rows: send nothing, or skip them')
        .choices(['fail', 'skip'])
        .default('fail'),
    )
    .option('--limit <number>', 'only the first N rows; the same id runs the rest later')
    .option('--sample <number>', 'only this many rows, spread over the manifest')
    .option('--rebuy-changed', 'buy rows again whose text has changed since they were bought')
    .option('--account <name>', 'credential name of the worker')
    .option('--prompts <file>', 'instead of a manifest: one prompt per line, - for stdin; needs --model')
    .option('--model <id>', 'with --prompts: model of all rows, sent exactly as given')
    .option('--duration <seconds>', 'with --prompts: duration of every video, in whole seconds')
    .option('--resolution <value>', 'with --prompts: resolution of every video, for example 720p')
    .option('--aspect-ratio <ratio>', 'with --prompts: aspect ratio of every video, for example 16:9')
    .option('--size <WxH>', 'with --prompts: size of every image, for example 1024x1024')
    .option('--quality <value>', 'with --prompts: quality of every image')
    .option('--n <number>', 'with --prompts: number of results of every image row')
    .option(
      '--field <name=value>',
      'with --prompts: model-specific field of every row; may be repeated',
      collect,
    );
  withCommonOptions(withConsentOptions(withRunOptions(run)))
    .addHelpText('after', RUN_HELP)
    .action(async (manifest: string | undefined, options: RunOptions) => {
      const { runCampaignCommand } = await import('./run.js');
      await runCampaignCommand(context, manifest, options);
    });
}

const RUN_HELP = `
Every row is validated before anything is sent; problems are reported with the line of the manifest. A row is identified
by its column id, else by its content, never by its line. Files that rows name (file:PATH, below the folder of the
manifest) are sent through the artifact store.
The estimate counts one attempt of each row. A row may be tried again after capacity failures, and each attempt may cost:
the most that this can cost is shown beside the estimate, and --budget limits it. With --max-spend, a start that may cost
more asks at a terminal; without a terminal it ends with exit code 6.

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
      .description('show the state of a campaign: rows, money, rate, what is safe to do')
      .argument(...ID)
      .option('--batches', 'list its open batches too'),
  ).action(async (id: string, options: CommonOptions & { readonly batches?: boolean }) => {
    const { showCampaignStatus } = await import('./status.js');
    await showCampaignStatus(context, named('id', id), options);
  });
  withCommonOptions(
    campaign
      .command('watch')
      .description('show a campaign until it ends; starts nothing')
      .argument(...ID)
      .option('--out <dir>', 'keep a report in this folder'),
  ).action(async (id: string, options: CommonOptions & { readonly out?: string }) => {
    const { watchCampaign } = await import('./watch.js');
    await watchCampaign(context, named('id', id), options);
  });
  withCommonOptions(
    campaign
      .command('report')
      .description('write or refresh the report: results.jsonl, results.csv, media, a gallery')
      .argument(...ID)
      .option('--out <dir>', 'folder of the report (default: named after the id)')
      .option('--zip <file>', 'also pack the report into this file')
      .option('--force', 'replace an existing packed file'),
  ).action(async (id: string, options: CommonOptions) => {
    const { reportCampaign } = await import('./report-results.js');
    await reportCampaign(context, named('id', id), options);
  });
  withCommonOptions(
    campaign
      .command('list')
      .description('list the campaigns of the namespace: running ones first, then the newest')
      .option('--limit <number>', 'at most this many (default: 20)'),
  ).action(async (options: CommonOptions) => {
    const { showCampaigns } = await import('./status.js');
    await showCampaigns(context, options);
  });
}

function addOrders(campaign: Command, context: CommandContext): void {
  const orders = [
    ['pause', 'create nothing more until resumed; running tasks are collected'],
    ['cancel', 'create nothing more and end; running tasks are collected, bought results are kept'],
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
        .option('--concurrency <number>', 'videos in flight at a time')
        .option('--budget <amount>', 'maximum spend; nothing is created beyond it: 200, 200USD'),
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
          .description('continue after a pause, or with rows still running, settled, skipped or canceled')
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
            'rows with this outcome; may be repeated (default: failed and rejected)',
            collect,
          ),
        { goesOn: true },
      ),
    ),
  ).action(resumeRows('retry'));
}

const RESUME_HELP = `
Rows keep their creation keys: what was bought is fetched or adopted, never bought again. Rows that were not bought yet
are bought, within the budget and the --limit or --sample of the last run; \`campaign run MANIFEST --id ID\` without that
option buys the rest. --wait-for and --max-attempts apply from the next start on, not to a campaign that runs.

Examples:
  $ temporal-media campaign resume spring --out spring
  $ temporal-media campaign resume spring --budget 300USD
`;

/** @throws CliError for an empty argument */
function named(field: string, value: string): string {
  if (value.trim() !== '') return value;
  throw badInput([{ field, message: 'must not be empty.' }]);
}

/** `campaign adopt` and `campaign declare-lost`: record a person's decision about rows that were set aside. */
function addCampaignRowCommands(campaign: Command, context: CommandContext): void {
  withDecisionOptions(
    campaign
      .command('adopt')
      .description('a row that was set aside was accepted as this task: continue with it; costs nothing more')
      .argument('<id>', 'id of the campaign')
      .argument('<row>', 'id of the row, or its key as the results show it')
      .argument('<task>', 'task id from the records of the service'),
  ).action(async (id: string, key: string, taskId: string, options: DecideOptions) => {
    const { decideRow } = await import('./orders.js');
    await decideRow(context, id, { key, taskId }, options);
  });
  withDecisionOptions(
    campaign
      .command('declare-lost')
      .description('a row that was set aside was not accepted')
      .argument('<id>', 'id of the campaign')
      .argument('<row>', 'id of the row, or its key as the results show it'),
  ).action(async (id: string, key: string, options: DecideOptions) => {
    const { decideRow } = await import('./orders.js');
    await decideRow(context, id, { key }, options);
  });
}
