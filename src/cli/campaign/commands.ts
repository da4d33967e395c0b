import { type Command, Option } from 'commander';
import { collect, type CommandContext, type CommonOptions, withCommonOptions } from '../context';
import { badInput } from '../errors';
import {
  type RunOptions,
  type ResumeRowsCommandOptions,
  withConsentOptions,
  withRunOptions,
} from './campaign-options';

/** `campaign`: thousands of rows of a manifest, each bought once, within a budget. */
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
A manifest is CSV with a header, or JSON lines: one row for each video, image or edit. Ctrl-C detaches, and never cancels.
Exit codes, the first that fits: 5 rows wait for a decision, 75 rows are still running (resume), 5 cancelled, 5 rows
failed, 5 the budget is spent, 5 rows have another text now, 0 every row completed.

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
      .description('write a manifest to begin with; overwrites nothing')
      .argument('[file]', 'ends in .csv or .jsonl', 'campaign.csv'),
  ).action(async (file: string, options: CommonOptions) => {
    const { initManifest } = await import('./template.js');
    await initManifest(context, file, options);
  });
}

function addRun(campaign: Command, context: CommandContext): void {
  const run = campaign
    .command('run')
    .description('validate a manifest, start it or attach to it, wait, keep a report')
    .argument('[manifest]', 'CSV or JSON lines: a file, - for stdin, an address, or artifact:sha256/HASH')
    .option('--id <id>', 'id of the campaign: the same id buys only what is missing (default: a new one)')
    .addOption(
      new Option('--format <format>', 'of the manifest; found by its first character otherwise').choices([
        'csv',
        'jsonl',
      ]),
    )
    .option('--dry-run', 'show rows, models, price and what is not valid; sends nothing and needs no server')
    .addOption(
      new Option(
        '--on-invalid <what>',
        'rows that are not valid keep everything from being sent, or are left out',
      )
        .choices(['fail', 'skip'])
        .default('fail'),
    )
    .option('--limit <number>', 'only so many rows, the first; the rest later under the same id')
    .option('--sample <number>', 'only so many rows, spread over the manifest')
    .option('--rebuy-changed', 'buy rows again that were bought with another text')
    .option('--account <name>', 'credential name of the worker')
    .option('--prompts <file>', 'instead of a manifest: one prompt a line, - for stdin; needs --model')
    .option('--model <id>', 'with --prompts: model of all rows, sent exactly as given')
    .option('--duration <seconds>', 'with --prompts: whole seconds, of every video')
    .option('--resolution <value>', 'with --prompts: of every video, for example 720p')
    .option('--aspect-ratio <ratio>', 'with --prompts: of every video, for example 16:9')
    .option('--size <WxH>', 'with --prompts: of every image, for example 1024x1024')
    .option('--quality <value>', 'with --prompts: of every image')
    .option('--n <number>', 'with --prompts: results for every image')
    .option(
      '--field <name=value>',
      'with --prompts: model-specific field of every row; may be repeated',
      collect,
    );
  withCommonOptions(withConsentOptions(withRunOptions(run)))
    .addHelpText('after', RUN_HELP)
    .action(async (manifest: string | undefined, options: RunOptions) => {
      const { runCampaign } = await import('./run.js');
      await runCampaign(context, manifest, options);
    });
}

const RUN_HELP = `
Every row is validated before anything is sent; what is wrong is reported by the line of the manifest. A row is known by its column
id, else by its content, never by its line. Files that rows name (file:PATH, below the folder of the manifest) travel
through the artifact store.
The estimate counts one attempt of each row. A row may be tried again after capacity failures, which may cost again: the most
that this can come to stands beside it, and --budget is a bound. --max-spend asks before a start that may cost more, and ends with exit code 6 where nobody can be
asked.

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
      .description('how a campaign stands: rows, money, rate, what is safe to do')
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
      .option('--out <dir>', 'keep a report there'),
  ).action(async (id: string, options: CommonOptions & { readonly out?: string }) => {
    const { watchCampaign } = await import('./watch.js');
    await watchCampaign(context, named('id', id), options);
  });
  withCommonOptions(
    campaign
      .command('report')
      .description('write or refresh the report: results.jsonl, results.csv, media, a gallery')
      .argument(...ID)
      .option('--out <dir>', 'its folder (default: named after the id)')
      .option('--zip <file>', 'pack it as well')
      .option('--force', 'replace a packed file of that name'),
  ).action(async (id: string, options: CommonOptions) => {
    const { reportCampaign } = await import('./report.js');
    await reportCampaign(context, named('id', id), options);
  });
  withCommonOptions(
    campaign
      .command('list')
      .description('campaigns of the namespace: those that run, then the newest')
      .option('--limit <number>', 'so many at most (default: 20)'),
  ).action(async (options: CommonOptions) => {
    const { listCampaigns } = await import('./status.js');
    await listCampaigns(context, options);
  });
}

function addOrders(campaign: Command, context: CommandContext): void {
  const orders = [
    ['pause', 'create nothing more for now; what runs is collected'],
    ['cancel', 'create nothing more and end; what runs is collected, what was bought is kept'],
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
        .description('change a campaign while it runs')
        .argument(...ID)
        .option('--concurrency <number>', 'videos in flight at a time')
        .option('--budget <amount>', 'nothing is created beyond it: 200, 200USD'),
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
          .description('go on: after a pause, with rows still running, settled, skipped or cancelled')
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
          .description('buy a new attempt of rows that failed')
          .argument(...ID)
          .option(
            '--outcome <outcome>',
            'which rows; may be repeated (default: failed and rejected)',
            collect,
          ),
        { goesOn: true },
      ),
    ),
  ).action(resumeRows('retry'));
}

const RESUME_HELP = `
Rows go on under the keys that they have: what was bought is fetched or adopted, never bought again. Rows that were not
bought yet are bought, within the budget and the --limit or --sample of the last run: the rows beyond that are bought by
\`campaign run MANIFEST --id ID\` without it. --wait-for and --max-attempts count from the next start on, not for one that runs.

Examples:
  $ temporal-media campaign resume spring --out spring
  $ temporal-media campaign resume spring --budget 300USD
`;

/** @throws CliError for an empty argument */
function named(field: string, value: string): string {
  if (value.trim() !== '') return value;
  throw badInput([{ field, message: 'must not be empty.' }]);
}

interface DecideOptions extends CommonOptions {
  readonly reason: string;
  readonly by?: string;
}

/** `campaign adopt` and `campaign declare-lost`: what a person decides about rows that were set aside. */
function addCampaignRowCommands(campaign: Command, context: CommandContext): void {
  withDecisionOptions(
    campaign
      .command('adopt')
      .description('a row that was set aside was accepted as this task: go on with it; costs nothing more')
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
      .description('nothing was accepted of a row that was set aside')
      .argument('<id>', 'id of the campaign')
      .argument('<row>', 'id of the row, or its key as the results show it'),
  ).action(async (id: string, key: string, options: DecideOptions) => {
    const { decideRow } = await import('./orders.js');
    await decideRow(context, id, { key }, options);
  });
}

function withDecisionOptions(command: Command): Command {
  return withCommonOptions(
    command
      .requiredOption('--reason <text>', 'why; kept in the journal')
      .option('--by <name>', 'who decides; kept in the journal (default: the user of this process)'),
  );
}
