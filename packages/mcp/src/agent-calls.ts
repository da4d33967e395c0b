import { join } from 'node:path';
import { type CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { maySend } from '@temporal-media/cli/internal/shared/before-send';
import { spendLimitOf } from '@temporal-media/cli/internal/shared/confirm';
import { connect, type Connected } from '@temporal-media/cli/internal/shared/connect';
import { checkCall } from '@temporal-media/cli/internal/shared/dry-run';
import { CliError, failureOf } from '@temporal-media/cli/internal/shared/errors';
import { viewExecution, viewStandalone } from '@temporal-media/cli/internal/shared/execution-state';
import { EXIT } from '@temporal-media/cli/internal/shared/exit-codes';
import { refuseInvalidCall } from '@temporal-media/cli/internal/shared/invalid-request';
import { prepareOut, saveResults } from '@temporal-media/cli/internal/shared/output-files';
import { idOf, startOf } from '@temporal-media/cli/internal/shared/paid-options';
import { requireReadableResults } from '@temporal-media/cli/internal/shared/readable-results';
import { Report } from '@temporal-media/cli/internal/shared/report';
import { statusLines, videoStatus } from '@temporal-media/cli/internal/status/run';
import { type PaidRequest } from 'temporal-media';
import { otherwise } from 'temporal-media/internal/domain/bug';
import { given } from 'temporal-media/internal/domain/json';
import { formatMoney } from 'temporal-media/internal/domain/money';
import { isOpen } from 'temporal-media/internal/domain/names';
import { readConfig } from 'temporal-media/internal/settings/config';
import { openArtifactStore, openJournal } from 'temporal-media/internal/stores/open-stores';
import { type CreateJournal } from 'temporal-media/stores';
import { type MediaConfig } from 'temporal-media/worker';

/** Settings of the MCP server, beyond those in the environment. */
export interface CallSettings {
  readonly env: NodeJS.ProcessEnv;
  /** An amount such as `0.50USD`. @default MEDIA_MAX_SPEND; without it 0, so that a person confirms every cost */
  readonly maxSpend?: string | undefined;
  /** Folder for results. @default `results` in the data directory */
  readonly out?: string | undefined;
}

/** A paid request of a tool, and the name of the worker's credential. */
export interface ToolCall {
  readonly paid: Exclude<PaidRequest, { operation: 'edit_image' }>;
  readonly account?: string | undefined;
}

/** Asks a person to accept a cost that is above the limit for this reason. @throws CliError if nobody accepts it */
export type ConfirmCost = (reason: string) => Promise<void>;

/** Longer than the command line's, because nobody resumes a wait that ends while no client looks. */
const WAIT_FOR = '24h';

/** Performs the tools with the command line's checks, prices and texts, which contain no prompt, key or signed URL. */
export class AgentCalls {
  private readonly config: MediaConfig;
  private connection: Promise<Connected> | undefined;
  private opened: Promise<CreateJournal | undefined> | undefined;

  private readonly maxSpend: string;

  /** @throws ConfigurationError, CliError for an invalid limit */
  constructor(private readonly settings: CallSettings) {
    this.config = readConfig(settings.env);
    this.maxSpend = settings.maxSpend ?? (settings.env['MEDIA_MAX_SPEND']?.trim() || '0');
    spendLimitOf(this.maxSpend, settings.env);
  }

  /** Checks a request and estimates its cost, without starting anything. @throws CliError */
  async price({ paid, account }: ToolCall): Promise<CallToolResult> {
    refuseInvalidCall(paid);
    const { env } = this.settings;
    const { estimate, model } = await checkCall(paid, { config: this.config, env, account });
    const cost = estimate === null ? 'unknown' : formatMoney(estimate);
    const unchecked = model === 'entry' ? '' : ' No model configuration here has this model.';
    return textResult(`Estimated cost: ${cost}.${unchecked} Nothing was sent.`, { estimate });
  }

  /** Starts a call, or attaches to the one with this id. @throws CliError, CreationKeyConflictError */
  async create(givenId: string, { paid, account }: ToolCall, confirm: ConfirmCost): Promise<void> {
    const id = idOf(givenId, '');
    refuseInvalidCall(paid);
    const { env } = this.settings;
    const context = { env, report: new Report('json'), exitCode: EXIT.done };
    const options = { id, maxSpend: this.maxSpend, ...given({ account }) };
    const connected = () => this.connected();
    await maySend(context, { paid, config: this.config, env, options, connected }).catch((error: unknown) => {
      const { type, message } = failureOf(error).reply;
      if (type !== 'spend_not_confirmed') throw error;
      return confirm(message.replace(' Nothing was sent.', ''));
    });
    const found = await this.connected();
    await requireReadableResults(found, (await found.hasWorker()) !== false);
    const { media } = found;
    const common = startOf(options);
    if (paid.operation === 'create_video')
      await media.startVideo({ request: paid.request, waitFor: WAIT_FOR, ...common }, { id });
    else await media.images.start({ request: paid.request, ...common }, { id });
  }

  /** Reads where a call stands; with `save`, copies a completed call's files. Buys nothing. @throws CliError */
  async status(id: string, save = false): Promise<CallToolResult & { readonly state: string }> {
    const found = await videoStatus(await this.connected(), this.config, id, {
      journal: await this.journal(),
    });
    if (found === undefined) throw new CliError('not_found', `The id ${id} is unknown.`);
    const { outcome, workflow, activity } = found;
    const isRunning = outcome === null && isOpen((workflow ?? activity)?.status ?? '');
    const state = isRunning ? 'running' : (outcome?.outcome ?? 'closed');
    const lines = statusLines(found, (_tone, line) => line);
    if (!save || outcome?.outcome !== 'completed')
      return { state, ...textResult(lines.join('\n'), { id, state }), isError: save && !isRunning };
    const directory = await prepareOut(this.settings.out ?? join(this.config.dataDir, 'results'));
    const store = await openArtifactStore(this.config);
    const { files } = await saveResults(store, { id, workflowId: id, outcome, directory });
    return { state, ...textResult(['Completed:', ...files].join('\n'), { id, state, files }) };
  }

  /** Whether a call is running, from its descriptions alone, because clients of tasks ask every few seconds. */
  async isRunning(id: string): Promise<boolean> {
    const { client } = await this.connected();
    const found = await Promise.all([viewExecution(client, id, () => undefined), viewStandalone(client, id)]);
    return found.some((one) => one !== undefined && isOpen(one.status));
  }

  private journal(): Promise<CreateJournal | undefined> {
    this.opened ??= openJournal(this.config).catch(otherwise(undefined));
    return this.opened;
  }

  private async connected(): Promise<Connected> {
    this.connection ??= connect(this.config, this.settings.env);
    this.connection.catch(() => (this.connection = undefined));
    return this.connection;
  }
}

/** Returns a result with a text for people, and facts for programs. */
function textResult(text: string, structuredContent: Record<string, unknown>): CallToolResult {
  return { content: [{ type: 'text', text }], structuredContent };
}

/** Performs a tool. An error becomes a result with its type, its message and what to do. */
export async function attempt<Result>(work: () => Promise<Result>): Promise<Result | CallToolResult> {
  try {
    return await work();
  } catch (error) {
    const { type, message, hint } = failureOf(error).reply;
    return { ...textResult(`${type}: ${message} ${hint}`.trim(), { error: type }), isError: true };
  }
}
