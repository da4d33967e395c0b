import { type MediaConfig } from '../../config';
import { type ModelEntry } from '../../domain/model-config';
import { type PaidRequest } from '../../domain/request';
import { CliError } from '../errors';
import { type CommandContext } from '../context';
import { type CallPlace, type ValidatedCall } from './validate-call';
import { spendLimitOf } from './spend-limit';

export interface SpendOptions {
  readonly dryRun?: boolean;
  readonly maxSpend?: string;
  readonly yes?: boolean;
  readonly account?: string;
}

/** What decides whether a valid request is started. */
export interface BeforeSend {
  readonly paid: PaidRequest;
  readonly config: MediaConfig;
  readonly env: NodeJS.ProcessEnv;
  readonly options: SpendOptions;
}

/**
 * Shows the request instead of sending it (`--dry-run`), or enforces the spend limit. True when the call may start.
 * @throws CliError for bad input, and `spend_not_confirmed`
 */
export async function maySend(
  context: CommandContext,
  { paid, config, env, options }: BeforeSend,
): Promise<boolean> {
  const limit = spendLimitOf(options.maxSpend, env);
  if (options.dryRun === true) {
    const { showDryRun } = await import('../dry-run.js');
    await showDryRun(context, paid, { config, env, account: options.account });
    return false;
  }
  if (limit === undefined || options.yes === true) return true;
  const { confirmSpend } = await import('./confirm-spend.js');
  await confirmSpend(context.report, {
    limit,
    ...(await estimateOf(paid, { config, env, account: options.account })),
  });
  return true;
}

/** The estimate; unknown when the configuration cannot be read. */
async function estimateOf(
  paid: PaidRequest,
  place: CallPlace,
): Promise<Pick<ValidatedCall, 'estimate'> & { readonly unknownBecause?: string }> {
  // Imported here: it loads an HTTP client, which other commands do not need.
  const { validateCall } = await import('./validate-call.js');
  try {
    const { estimate, entry, source } = await validateCall(paid, place);
    if (estimate !== null) return { estimate };
    return { estimate, unknownBecause: reason(entry, source.origin === 'none') };
  } catch (error) {
    if (!(error instanceof CliError) || error.reply.type !== 'models_unavailable') throw error;
    return { estimate: null, unknownBecause: error.message };
  }
}

function reason(entry: ModelEntry | undefined, noConfiguration: boolean): string {
  if (noConfiguration) return 'No model configuration with prices is known here (MEDIA_MODELS).';
  if (entry === undefined) return 'The model configuration has no entry for this model.';
  return entry.price === undefined
    ? 'The model configuration has no price for this model.'
    : 'The price rule of this model does not cover this request.';
}
