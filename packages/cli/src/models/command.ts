import { type Command } from 'commander';
import {
  type CommandContext,
  type CommonOptions,
  effectiveConfig,
  effectiveEnvironment,
  withCommonOptions,
} from '../shared/context';
import { CliError } from '../shared/errors';
import { textTable } from '../shared/progress-view';
import { nearNames } from '../shared/text';

interface ModelsOptions extends CommonOptions {
  readonly account?: string;
}

/** Adds `--account`, because an account in MEDIA_ACCOUNTS may have its own models. */
function withAccount(command: Command): Command {
  return withCommonOptions(
    command.option('--account <name>', 'credential whose models to show (default: MEDIA_MODELS)'),
  );
}

/** Adds `models`, which shows the live model configuration as a worker with this environment reads it. */
export function addModelsCommand(program: Command, context: CommandContext): void {
  const models = program.command('models').description('list the configured models, or show one');
  withAccount(models.command('ls', { isDefault: true }).description('list all models'))
    .addHelpText('after', HELP)
    .action(async (options: ModelsOptions) => list(context, options));
  withAccount(
    models
      .command('show')
      .description('show everything about one model, with an example command')
      .argument('<model>', 'public model id'),
  )
    .addHelpText('after', HELP)
    .action(async (id: string, options: ModelsOptions) => show(context, id, options));
}

const HELP = `
The models come from MEDIA_MODELS, or from the account's entry in MEDIA_ACCOUNTS. If neither is set, they come from the
sandbox of a running \`temporal-media dev\` with this data directory. This command needs neither a Temporal server nor a key.

Examples:
  $ temporal-media models
  $ temporal-media models show motion-omni
  $ temporal-media models ls --json | jq '.data.models[].id'
`;

const NONE =
  'There is no model configuration (MEDIA_MODELS). Any model is accepted, but only with safe fields, and prices are unknown.';

const CONFIGURE =
  'Set MEDIA_MODELS to a file or URL. `temporal-media schema models` prints its schema, and the README section "With your service" has an example.';

async function list(context: CommandContext, options: ModelsOptions): Promise<void> {
  const { report } = context;
  const { entries, origin } = await read(context, options);
  if (origin.origin === 'none') report.say(NONE);
  else {
    const { modelRows } = await import('./run.js');
    for (const line of textTable(modelRows(entries))) report.result(line);
    report.say(`${entries.length} models from ${origin.location ?? ''}, for account ${origin.account}`);
  }
  report.reply({ ok: true, data: { models: entries, source: origin } });
}

async function show(context: CommandContext, id: string, options: ModelsOptions): Promise<void> {
  const { report } = context;
  const { entries, origin } = await read(context, options);
  const entry = entries.find((candidate) => candidate.id === id);
  if (entry === undefined) {
    if (origin.origin === 'none') throw new CliError('bad_input', NONE, { hint: CONFIGURE });
    const ids = entries.map((candidate) => candidate.id);
    const near = nearNames(id, ids);
    const meant = near.length === 0 ? ids : near;
    const hint = `${near.length === 0 ? 'Configured models' : 'Did you mean'}: ${meant.join(', ')}${near.length === 0 ? '.' : '?'}`;
    throw new CliError('bad_input', `Model ${id} is not in the model configuration.`, { hint });
  }
  const { modelLines, modelView } = await import('./run.js');
  const view = modelView(entry);
  for (const line of textTable(modelLines(view))) report.result(line);
  report.reply({ ok: true, data: { ...view, source: origin } });
}

async function read(context: CommandContext, options: ModelsOptions) {
  const { modelsInForce } = await import('../shared/models-in-force.js');
  const { accountsOf, configOfAccount } = await import('temporal-media/internal/settings/accounts');
  const all = effectiveConfig(context, options);
  const config = configOfAccount(all, options.account);
  if (options.account !== undefined && ![config.credential, all.credential].includes(options.account)) {
    const names = accountsOf(all).map(({ credential }) => credential);
    const hint =
      names.length === 0
        ? 'MEDIA_ACCOUNTS does not list any accounts.'
        : `Configured accounts: ${names.join(', ')}.`;
    throw new CliError('bad_input', `Account ${options.account} is not configured here.`, { hint });
  }
  return modelsInForce(all, effectiveEnvironment(context, options), options.account);
}
