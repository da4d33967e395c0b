import { randomUUID } from 'node:crypto';
import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { otherwise } from '../domain/bug';
import {
  type CampaignResult,
  type CampaignState,
  type CampaignUpdateResult,
  type CampaignUpdates,
} from '../domain/campaign/campaign-state';
import {
  CAMPAIGN_SHAPE,
  type CampaignInput,
  RETRIED_BY_DEFAULT,
  type RetriedOutcome,
  type RowSelection,
} from '../domain/campaign/plan';
import { type ResultsRef } from '../domain/campaign/results';
import { given } from '../domain/json';
import { DEFAULT_CREDENTIAL, INVALID_INPUT, isOpen, UPDATE, WORKFLOW } from '../domain/names';
import { shapeIssue, type ShapeOf } from '../domain/shape';
import {
  again,
  type CampaignExecution,
  campaignMemo,
  type CampaignStart,
  closedResults,
  findCampaign,
  findStarted,
  listCampaigns,
  presentOutcomes,
  queryCampaignState,
  requireSame,
  RESUMED_OUTCOMES,
  resumedRows,
  withActiveRows,
} from './campaign-records';
import {
  accepted,
  CampaignConflictError,
  CampaignEndedError,
  CampaignInputError,
  CampaignNotFoundError,
  CampaignUnreadableError,
  refuseInvalid,
} from './errors';
import {
  refuseUnregistered,
  START_KEYS,
  type Starter,
  type StartOptions,
  type TemporalMediaClientOptions,
  temporalOptions,
  type WatchOptions,
} from './options';
import { requireUnpaused, started, type Started, watchStates } from './workflow-handle';

/** Starts, watches and controls campaigns: `media.campaigns`. */
export class CampaignClient {
  private readonly starter: Starter;

  constructor(
    private readonly client: Client,
    taskQueue: string,
    { searchAttributes: searchable = false }: Pick<TemporalMediaClientOptions, 'searchAttributes'> = {},
  ) {
    this.starter = { client, taskQueue, searchable };
  }

  /**
   * Starts a campaign. Attaches if the same id and manifest already run; after they have ended, starts a new run that
   * submits only the missing rows.
   * @throws CampaignInputError, CampaignConflictError, CampaignUnreadableError
   */
  async start(input: CampaignStart, options: StartOptions = {}): Promise<Started<CampaignResult>> {
    refuseInvalid(options, START_KEYS);
    const id = options.id ?? `campaign-${randomUUID()}`;
    refuseUnusable(id, input);
    const running = await this.attach(id, input);
    if (running !== undefined) return running;
    const found = await findCampaign(this.client, id);
    if (found === undefined) return this.#begin(id, input, { options });
    return this.#begin(id, { ...input, previous: await closedResults(this.client, found) }, { options });
  }

  /**
   * Attaches to the campaign that runs under this id; undefined when none runs. Starts nothing.
   * @throws CampaignConflictError when the id runs something else
   */
  async attach(id: string, input: CampaignStart): Promise<Started<CampaignResult> | undefined> {
    const found = await findStarted(this.client, id);
    if (found === undefined || (found.type === WORKFLOW.runCampaign && !isOpen(found.status)))
      return undefined;
    requireSame(found, input);
    return this.#attach(id, found.runId);
  }

  /** The newest run under an id, as the server lists it; needs no worker. @throws CampaignNotFoundError */
  async describe(id: string): Promise<CampaignExecution> {
    const found = await findCampaign(this.client, id);
    if (found?.type !== WORKFLOW.runCampaign) throw new CampaignNotFoundError(id);
    return found;
  }

  /** Campaigns of the namespace: running ones first, then the newest. @param most 20 unless given */
  list(most = 20): Promise<readonly CampaignExecution[]> {
    return listCampaigns(this.client, most);
  }

  /**
   * The current state of a campaign, or its last one while its history is retained. Rejects when no worker answers
   * within 15 seconds. The active rows come from up to three batches, each of which has 2 seconds to answer.
   */
  async state(id: string): Promise<CampaignState> {
    return withActiveRows(this.client, await queryCampaignState(this.client, id));
  }

  /** Waits for the end of a campaign; rejects when it was closed from outside. */
  result(id: string): Promise<CampaignResult> {
    return this.#attach(id).result();
  }

  /** All results so far, as artifacts. @throws CampaignNotFoundError, CampaignUnreadableError */
  async results(id: string): Promise<ResultsRef> {
    const found = await this.describe(id);
    requireUnpaused(id, found.status);
    return isOpen(found.status)
      ? (await queryCampaignState(this.client, id)).results
      : closedResults(this.client, found);
  }

  /** Yields the state of a campaign on every change, until it is closed or `signal` aborts. Read-only. */
  watch(id: string, options: WatchOptions = {}): AsyncGenerator<CampaignState, void, undefined> {
    return watchStates<CampaignState>(
      {
        state: () => this.state(id),
        isRunning: async () => isOpen((await findCampaign(this.client, id))?.status ?? ''),
      },
      options,
    );
  }

  /**
   * Sends an Update to a running campaign: `pause`, `resume`, `cancel` and those of `CampaignUpdates`.
   * @throws CampaignEndedError, CampaignNotFoundError
   */
  async order<Order extends CampaignOrder>(
    id: string,
    order: Order,
    ...input: OrderInput<Order>
  ): Promise<CampaignUpdateResult> {
    const handle = this.client.workflow.getHandle(id);
    const [given] = input;
    try {
      return given === undefined
        ? await handle.executeUpdate<CampaignUpdateResult, []>(UPDATE[order])
        : await handle.executeUpdate<CampaignUpdateResult, [unknown]>(UPDATE[order], { args: [given] });
    } catch (error) {
      if (error instanceof WorkflowUpdateFailedError && isInvalidInput(error.cause))
        return { accepted: false, message: error.cause.message };
      if (!(error instanceof WorkflowNotFoundError)) throw error;
      await this.describe(id);
      throw new CampaignEndedError(id);
    }
  }

  /**
   * Resumes a campaign. A paused one creates again; rows that are still running, were set aside, skipped or cancelled
   * are resumed under their existing keys, by an Update while it runs and by a new run after it has ended.
   * @throws CampaignNotFoundError, CampaignInputError, CampaignUnreadableError, CampaignOrderError
   */
  async resume(id: string, { confirm, ...changes }: ResumeCampaignOptions = {}): Promise<ResumedCampaign> {
    refuseInvalid(changes, CHANGE_KEYS);
    const found = await this.#findStarted(id);
    if (!isOpen(found.status)) return this.#goOn(found, changes, confirm);
    requireUnpaused(id, found.status);
    const state = await queryCampaignState(this.client, id);
    const { phase, results } = state;
    const outcomes = presentOutcomes(results.counts, RESUMED_OUTCOMES);
    // A larger budget and resumed rows may both lead to purchases.
    if (confirm !== undefined && (outcomes.length > 0 || changes.budget !== undefined)) {
      const input = await this.#lastInput(found, state);
      await confirm({ ...input, ...changes, select: again(outcomes), previous: results });
    }
    const messages = await this.#change(id, changes);
    if (phase === 'paused') messages.push(accepted(id, await this.order(id, 'resume')));
    if (outcomes.length > 0) return this.#resumeRows(found, again(outcomes), messages);
    const by = messages.length > 0 ? 'order' : 'nothing';
    return { by, rows: 0, messages, started: this.#attach(id, found.runId) };
  }

  /**
   * Gives rows with these outcomes a new, paid attempt under a new key. @param outcomes failed and rejected unless
   * given
   * @throws CampaignNotFoundError, CampaignInputError, CampaignUnreadableError, CampaignOrderError
   */
  async retry(
    id: string,
    outcomes: readonly RetriedOutcome[] = RETRIED_BY_DEFAULT,
    { confirm, ...changes }: ResumeCampaignOptions = {},
  ): Promise<ResumedCampaign> {
    refuseInvalid(changes, CHANGE_KEYS);
    const found = await this.#findStarted(id);
    requireUnpaused(id, found.status);
    const select: RowSelection = { rows: 'retry', outcomes };
    const state = await this.#lastState(found);
    const running = isOpen(found.status);
    if (running && state === undefined) throw new CampaignUnreadableError(id);
    const previous = running && state !== undefined ? state.results : await closedResults(this.client, found);
    const input = { ...(await this.#lastInput(found, state)), ...changes, select, previous };
    await confirm?.(input);
    if (running) return this.#resumeRows(found, select, await this.#change(id, changes));
    return {
      by: 'start',
      rows: null,
      messages: [],
      started: await this.#begin(id, input, { scope: found.input ?? {} }),
    };
  }

  async #findStarted(id: string): Promise<CampaignExecution> {
    const found = await findStarted(this.client, id);
    if (found?.type !== WORKFLOW.runCampaign) throw new CampaignNotFoundError(id);
    return found;
  }

  /** Starts a new run for the rows that an ended run left. */
  async #goOn(
    found: CampaignExecution,
    changes: CampaignChanges,
    confirm: ResumeCampaignOptions['confirm'],
  ): Promise<ResumedCampaign> {
    const { campaign, status } = found;
    const state = await this.#lastState(found);
    const previous = await closedResults(this.client, found);
    const kept = await this.#lastInput(found, state);
    const rows = resumedRows(found.input ?? kept, { status, counts: previous.counts, state });
    const input = { ...kept, ...changes, ...rows, previous };
    await confirm?.(input);
    const started = await this.#begin(campaign, input, { scope: found.input ?? {} });
    return { by: 'start', rows: null, messages: [], started };
  }

  /** The input of the campaign with later changes, without the fields that select rows. */
  async #lastInput(found: CampaignExecution, known?: CampaignState): Promise<CampaignStart> {
    if (found.input === null) {
      const message = `What the campaign "${found.campaign}" was started with is not kept: its manifest is not an artifact, or its history cannot be read here. Start it again with its manifest.`;
      throw new CampaignConflictError(found.campaign, message);
    }
    const { select: _select, limit: _limit, sample: _sample, ...input } = found.input;
    const state = known ?? (await this.#lastState(found));
    if (state === undefined) return input;
    const { concurrency, budget } = state;
    return { ...input, concurrency, ...(budget !== null && { budget: budget.total }) };
  }

  /** Undefined when no worker answers. */
  #lastState({ campaign, runId }: CampaignExecution): Promise<CampaignState | undefined> {
    return queryCampaignState(this.client, campaign, runId).catch(otherwise(undefined));
  }

  async #change(id: string, { concurrency, budget }: CampaignChanges): Promise<string[]> {
    const messages: string[] = [];
    if (concurrency !== undefined)
      messages.push(accepted(id, await this.order(id, 'setConcurrency', { concurrency })));
    if (budget !== undefined) messages.push(accepted(id, await this.order(id, 'raiseBudget', { budget })));
    return messages;
  }

  async #resumeRows(
    { campaign, runId }: CampaignExecution,
    select: RowSelection,
    messages: readonly string[],
  ): Promise<ResumedCampaign> {
    const result = await this.order(campaign, 'resumeRows', { select });
    const allMessages = [...messages, accepted(campaign, result)];
    const rows = result.rows ?? 0;
    const by = rows > 0 || messages.length > 0 ? 'order' : 'nothing';
    return { by, rows, messages: allMessages, started: this.#attach(campaign, runId) };
  }

  /** @param scope limit and sample of the memo: a run that resumes rows keeps those of the first start */
  async #begin(
    id: string,
    { previous, ...input }: CampaignStart & { readonly previous?: ResultsRef },
    {
      scope: { limit, sample } = input,
      options = {},
    }: { readonly scope?: Pick<CampaignStart, 'limit' | 'sample'>; readonly options?: StartOptions } = {},
  ): Promise<Started<CampaignResult>> {
    refuseUnusable(id, input);
    const { select: _select, limit: _limit, sample: _sample, ...lasting } = input;
    const memo = campaignMemo({ ...lasting, ...given({ limit, sample }) });
    const facts = { campaign: id, account: input.account ?? DEFAULT_CREDENTIAL };
    try {
      const handle = await this.client.workflow
        .start(WORKFLOW.runCampaign, {
          ...temporalOptions(this.starter, options, { facts, memo }),
          taskQueue: this.starter.taskQueue,
          workflowId: id,
          workflowIdConflictPolicy: 'FAIL',
          workflowIdReusePolicy: 'ALLOW_DUPLICATE',
          args: [{ ...input, ...(previous !== undefined && { previous }) }],
        })
        .catch(refuseUnregistered);
      return started(handle, handle.firstExecutionRunId, true);
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      // Another client was faster: attaches if it started the same campaign.
      const found = await findStarted(this.client, id);
      if (found === undefined) throw error;
      requireSame(found, input);
      return this.#attach(id, found.runId);
    }
  }

  #attach(id: string, runId = ''): Started<CampaignResult> {
    return started(this.client.workflow.getHandle(id), runId, false);
  }
}

/** The campaign rejects invalid arguments before they become an event. */
const isInvalidInput = (cause: unknown): cause is ApplicationFailure =>
  cause instanceof ApplicationFailure && cause.type === INVALID_INPUT;

/** Rejects invalid input: a run that fails at once would be the newest of its id and hide what earlier runs bought. */
function refuseUnusable(id: string, input: CampaignStart): void {
  const issue = shapeIssue(input, CAMPAIGN_SHAPE);
  if (issue !== undefined) throw new CampaignInputError(id, issue.message);
}

/** Names of the Updates of a campaign; `pause`, `resume` and `cancel` take no argument. */
export type CampaignOrder = keyof CampaignUpdates | 'pause' | 'resume' | 'cancel';

/** Arguments of an order. */
export type OrderInput<Order extends CampaignOrder> = Order extends keyof CampaignUpdates
  ? [CampaignUpdates[Order]]
  : [];

/** Settings that may be changed when a campaign is resumed. */
export type CampaignChanges = Pick<CampaignStart, 'concurrency' | 'budget' | 'waitFor' | 'maxAttempts'>;

const CHANGE_KEYS = {
  concurrency: true,
  budget: true,
  waitFor: true,
  maxAttempts: true,
} satisfies ShapeOf<CampaignChanges>;

/** Options of `resume` and `retry`. */
export interface ResumeCampaignOptions extends CampaignChanges {
  /**
   * Called before any Update or start, with the input to be planned, earlier results and selection included. When it
   * throws, nothing is changed.
   */
  readonly confirm?: (input: CampaignInput) => Promise<void>;
}

/** Result of `resume` and `retry`. */
export interface ResumedCampaign {
  /** `order`: by Updates while it runs. `start`: by a new run under the same id. `nothing`: no row needs it. */
  readonly by: 'order' | 'start' | 'nothing';
  /** Resumed rows; null for a new run, whose plan decides. */
  readonly rows: number | null;
  /** Replies of the campaign, for display. */
  readonly messages: readonly string[];
  /** The campaign, started now or already running. */
  readonly started: Started<CampaignResult>;
}
