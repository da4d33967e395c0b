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

/** An account in MEDIA_ACCOUNTS may have different models from MEDIA_MODELS. */
function withAccount(command: Command): Command {
  return withCommonOptions(
    command.option('--account <name>', 'credential whose models to show (default: those of MEDIA_MODELS)'),
  );
}

/** `models`: the live model configuration, as a worker with this environment reads it. */
export function addModelsCommand(program: Command, context: CommandContext): void {
  const models = program.command('models').description('list the models of the configuration, or show one');
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
The configuration is MEDIA_MODELS, or that of the account in MEDIA_ACCOUNTS; without it, that of the sandbox of the \`temporal-media dev\` on the data directory.
Needs no Temporal server and no key.

Examples:
  $ temporal-media models
  $ temporal-media models show motion-omni
  $ temporal-media models ls --json | jq '.data.models[].id'
`;

const NONE =
  'There is no model configuration (MEDIA_MODELS): every model is accepted, with the safe fields only, and prices are unknown.';

const CONFIGURE =
  'Set MEDIA_MODELS to a file or address: `temporal-media schema models` prints its schema, and the section "With your service" of the README has an example.';

async function list(context: CommandContext, options: ModelsOptions): Promise<void> {
  const { report } = context;
  const { entries, origin } = await read(context, options);
  if (origin.origin === 'none') report.say(NONE);
  else {
    const { modelRows } = await import('./run.js');
    for (const line of textTable(modelRows(entries))) report.result(line);
    report.say(`${entries.length} models from ${origin.location ?? ''}, for the account ${origin.account}`);
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
    const hint = `${near.length === 0 ? 'There are' : 'Did you mean'}: ${meant.join(', ')}${near.length === 0 ? '.' : '?'}`;
    throw new CliError('bad_input', `The model configuration has no model ${id}.`, { hint });
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
    const hint = names.length === 0 ? 'MEDIA_ACCOUNTS names none.' : `There are: ${names.join(', ')}.`;
    throw new CliError('bad_input', `No account ${options.account} is configured here.`, { hint });
  }
  return modelsInForce(all, effectiveEnvironment(context, options), options.account);
}
