import { type ModelEntry, type Money, type PaidRequest } from 'temporal-media';
import { wasStarted } from 'temporal-media/internal/client/start-paid';
import { otherwise, throwBug } from 'temporal-media/internal/domain/bug';
import { given } from 'temporal-media/internal/domain/json';
import { type MediaConfig } from 'temporal-media/worker';
import { spendLimitOf } from './confirm';
import { connect, type Connected } from './connect';
import { type CommandContext } from './context';
import { type CheckedCall } from './dry-run';

/**
 * Whether exactly this request was started under its id. If so, the command returns what was bought, even if the model
 * configuration has since changed. False if the server does not respond.
 */
async function isCallStarted(
  paid: PaidRequest,
  { id, account }: { readonly id?: string; readonly account?: string },
  connected: () => Promise<Pick<Connected, 'client'>>,
): Promise<boolean> {
  if (id === undefined) return false;
  return connected()
    .then(({ client }) => wasStarted(client, paid, { id, ...given({ account }) }))
    .catch(otherwise(false));
}

export interface SpendOptions {
  readonly dryRun?: boolean;
  readonly maxSpend?: string;
  readonly yes?: boolean;
  readonly account?: string;
  readonly id?: string;
}

/** A call to check before it is sent, and the limits that apply. */
export interface BeforeSend {
  readonly paid: PaidRequest;
  readonly config: MediaConfig;
  readonly env: NodeJS.ProcessEnv;
  readonly options: SpendOptions;
  /** Returns the connection of a process that checks many calls. @default a new one, which is never closed */
  readonly connected?: () => Promise<Pick<Connected, 'client'>>;
}

/**
 * Checks a call. With `--dry-run`, shows the request instead of sending it. Otherwise, enforces the spend limit.
 * Returns true if the call may start.
 * @throws CliError for any request that a dry run rejects, and `spend_not_confirmed`
 */
export async function maySend(
  context: CommandContext,
  { paid, config, env, options, connected = () => connect(config, env) }: BeforeSend,
): Promise<boolean> {
  const limit = spendLimitOf(options.maxSpend, env);
  const place = { config, env, account: options.account };
  // Imported lazily, because it loads an HTTP client that other commands do not need.
  const { checkCall, showDryRun } = await import('./dry-run.js');
  if (options.dryRun === true) {
    showDryRun(context, await checkCall(paid, place));
    return false;
  }
  const checked = await checkCall(paid, place).catch(async (error: unknown) => {
    throwBug(error);
    if (await isCallStarted(paid, options, connected)) return error as Error;
    throw error;
  });
  if (limit === undefined || options.yes === true) return true;
  const { confirmSpend } = await import('./confirm.js');
  await confirmSpend(context.report, { limit, ...costOf(checked) });
  return true;
}

/** @param checked an error if the call was rejected but a workflow with its id had already been started */
function costOf(checked: CheckedCall | Error): {
  readonly estimate: Money | null;
  readonly unknownBecause?: string;
} {
  if (checked instanceof Error) return { estimate: null, unknownBecause: checked.message };
  const { estimate, entry, source } = checked;
  if (estimate !== null) return { estimate };
  return { estimate, unknownBecause: reason(entry, source.origin === 'none') };
}

function reason(entry: ModelEntry | undefined, noConfiguration: boolean): string {
  if (noConfiguration) return 'No model configuration with prices is available here (MEDIA_MODELS).';
  if (entry === undefined) return 'The model configuration has no entry for this model.';
  return entry.price === undefined
    ? 'The model configuration has no price for this model.'
    : "This model's price rule does not cover this request.";
}
