import { type Command } from 'commander';
import { SEARCH_ATTRIBUTES } from 'temporal-media/internal/domain/names';
import { type Connected } from '../shared/connect';
import { type CommandContext, type CommonOptions, withCommonOptions, withServer } from '../shared/context';
import { CliError } from '../shared/errors';

/** `data` of `setup`. */
export interface SetupResult {
  readonly namespace: string;
  readonly dryRun: boolean;
  /** Search attributes that were just registered, or would be. */
  readonly registered: readonly string[];
  /** Search attributes that the namespace already had. */
  readonly present: readonly string[];
}

/** `IndexedValueType` of the Temporal API. */
const KEYWORD = 2;

/** Registers the search attributes of this package in the namespace. @throws CliError when the server refuses */
export async function setUp(
  { report }: CommandContext,
  { client, namespace, address }: Connected,
  dryRun: boolean,
): Promise<void> {
  const { operatorService } = client.connection;
  const known = await operatorService
    .listSearchAttributes({ namespace })
    .catch((error: unknown) => refused(namespace, error));
  const wrong = SEARCH_ATTRIBUTES.find((name) => (known.customAttributes?.[name] ?? KEYWORD) !== KEYWORD);
  if (wrong !== undefined)
    throw new CliError(
      'configuration',
      `The namespace ${namespace} has a search attribute ${wrong} of another type than Keyword.`,
      { hint: 'Remove or rename it, or leave MEDIA_SEARCH_ATTRIBUTES unset.' },
    );
  const present = SEARCH_ATTRIBUTES.filter((name) => known.customAttributes?.[name] !== undefined);
  const registered = SEARCH_ATTRIBUTES.filter((name) => !present.includes(name));
  if (!dryRun && registered.length > 0)
    await operatorService
      .addSearchAttributes({
        namespace,
        searchAttributes: Object.fromEntries(registered.map((name) => [name, KEYWORD])),
      })
      .catch((error: unknown) => refused(namespace, error));
  const did =
    registered.length === 0
      ? 'none is missing'
      : `${dryRun ? 'missing' : 'registered'}: ${registered.join(', ')}`;
  report.say(`Search attributes of the namespace ${namespace} at ${address}: ${did}.`);
  const data: SetupResult = { namespace, dryRun, registered, present };
  report.reply({ ok: true, data });
}

/** Temporal Cloud, and servers that restrict this permission, provide other ways to register them. */
function refused(namespace: string, error: unknown): never {
  const why = error instanceof Error ? error.message : String(error);
  const names = SEARCH_ATTRIBUTES.map((name) => `--name ${name} --type Keyword`).join(' ');
  throw new CliError(
    'configuration',
    `The server does not let this client register search attributes: ${why}`,
    {
      hint: `Ask an administrator of the namespace to register them: temporal operator search-attribute create --namespace ${namespace} ${names}. In Temporal Cloud they are part of the namespace settings.`,
    },
  );
}

interface SetupOptions extends CommonOptions {
  readonly dryRun?: boolean;
}

/** `setup`: registers search attributes in a namespace. */
export function addSetupCommand(program: Command, context: CommandContext): void {
  withCommonOptions(
    program
      .command('setup')
      .description('register the search attributes of this package in the namespace; once, safe to repeat')
      .option('--dry-run', 'only show which are missing'),
  )
    .addHelpText('after', HELP)
    .action(async (options: SetupOptions) => {
      await withServer(context, options, async (connected) => {
        await setUp(context, connected, options.dryRun === true);
      });
    });
}

const HELP = `
MediaOutcome, MediaModel, MediaAccount, MediaTaskId and MediaCampaign, all of the type Keyword. With
MEDIA_SEARCH_ATTRIBUTES=1 the commands that start something give them to their workflows, and so does
\`new TemporalMediaClient(client, { searchAttributes: true })\`. In the web UI, or by the Temporal CLI:
  MediaOutcome = "unconfirmed" AND CloseTime > "2026-11-24"

Example:
  $ temporal-media setup && export MEDIA_SEARCH_ATTRIBUTES=1
`;
