import { SEARCH_ATTRIBUTES } from 'temporal-media/internal/domain/search-attributes';
import { type CommandContext } from './context';
import { type Connected } from './connect';
import { CliError } from './errors';

/** `data` of `setup`. */
export interface SetupResult {
  readonly namespace: string;
  readonly dryRun: boolean;
  /** Search attributes that were registered now, or would be. */
  readonly registered: readonly string[];
  /** Those that the namespace had before. */
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

/** Temporal Cloud, and servers that give this right to few, have other ways to register them. */
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
