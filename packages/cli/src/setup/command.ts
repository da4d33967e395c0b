import { type Command } from 'commander';
import { SEARCH_ATTRIBUTES, searchAttributeType } from 'temporal-media/internal/domain/names';
import { type Connected } from '../shared/connect';
import { type CommandContext, type CommonOptions, withCommonOptions, withServer } from '../shared/context';
import { CliError } from '../shared/errors';

/** The `data` that `setup` returns. */
export interface SetupResult {
  readonly namespace: string;
  readonly dryRun: boolean;
  /** Search attributes that were registered or, in a dry run, would be registered. */
  readonly registered: readonly string[];
  /** Search attributes that the namespace already had. */
  readonly present: readonly string[];
}

/** `IndexedValueType` of the Temporal API, and its name in the Temporal CLI. */
const TYPES = {
  KEYWORD: { value: 2, name: 'Keyword' },
  KEYWORD_LIST: { value: 7, name: 'KeywordList' },
} as const;

const typeOf = (name: string) => TYPES[searchAttributeType(name)];

/** Registers this package's search attributes in the namespace. @throws CliError when the server does not allow it */
export async function setUp(
  { report }: CommandContext,
  { client, namespace, address }: Connected,
  dryRun: boolean,
): Promise<void> {
  const { operatorService } = client.connection;
  const known = await operatorService
    .listSearchAttributes({ namespace })
    .catch((error: unknown) => refused(namespace, error));
  const wrong = SEARCH_ATTRIBUTES.find(
    (name) => (known.customAttributes?.[name] ?? typeOf(name).value) !== typeOf(name).value,
  );
  if (wrong !== undefined)
    throw new CliError(
      'configuration',
      `Search attribute ${wrong} in namespace ${namespace} must have type ${typeOf(wrong).name}, but has another type.`,
      { hint: 'Remove or rename that search attribute, or leave MEDIA_SEARCH_ATTRIBUTES unset.' },
    );
  const present = SEARCH_ATTRIBUTES.filter((name) => known.customAttributes?.[name] !== undefined);
  const registered = SEARCH_ATTRIBUTES.filter((name) => !present.includes(name));
  if (!dryRun && registered.length > 0)
    await operatorService
      .addSearchAttributes({
        namespace,
        searchAttributes: Object.fromEntries(registered.map((name) => [name, typeOf(name).value])),
      })
      .catch((error: unknown) => refused(namespace, error));
  const did =
    registered.length === 0
      ? 'all are registered'
      : `${dryRun ? 'missing' : 'registered'}: ${registered.join(', ')}`;
  report.say(`Search attributes in namespace ${namespace} at ${address}: ${did}.`);
  const data: SetupResult = { namespace, dryRun, registered, present };
  report.reply({ ok: true, data });
}

/**
 * Explains other ways to register the search attributes, for Temporal Cloud and for servers that restrict this
 * permission.
 */
function refused(namespace: string, error: unknown): never {
  const why = error instanceof Error ? error.message : String(error);
  const names = SEARCH_ATTRIBUTES.map((name) => `--name ${name} --type ${typeOf(name).name}`).join(' ');
  throw new CliError(
    'configuration',
    `The server did not allow this client to register search attributes: ${why}`,
    {
      hint: `Ask a namespace administrator to run: temporal operator search-attribute create --namespace ${namespace} ${names}. In Temporal Cloud, register them in the namespace settings.`,
    },
  );
}

interface SetupOptions extends CommonOptions {
  readonly dryRun?: boolean;
}

/** Adds `setup`, which registers search attributes in a namespace. */
export function addSetupCommand(program: Command, context: CommandContext): void {
  withCommonOptions(
    program
      .command('setup')
      .description("register this package's search attributes in the namespace; needed once, safe to repeat")
      .option('--dry-run', 'only show which ones are missing'),
  )
    .addHelpText('after', HELP)
    .action(async (options: SetupOptions) => {
      await withServer(context, options, async (connected) => {
        await setUp(context, connected, options.dryRun === true);
      });
    });
}

const HELP = `
The attributes are MediaOutcome, MediaModel, MediaAccount, MediaTaskId and MediaCampaign, of type Keyword, and MediaLabels (KeywordList). With
MEDIA_SEARCH_ATTRIBUTES=1, commands set them on the workflows they start, as does
\`new TemporalMediaClient(client, { searchAttributes: true })\`. Use them in web UI or Temporal CLI queries, such as:
  MediaOutcome = "unconfirmed" AND CloseTime > "2026-11-24"

Example:
  $ temporal-media setup && export MEDIA_SEARCH_ATTRIBUTES=1
`;
