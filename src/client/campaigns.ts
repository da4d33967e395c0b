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
  keptOptions,
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
   * Starts a campaign. Attaches if a campaign with this ID and manifest is already running. If it has ended, starts a
   * new run that submits only the missing rows.
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
   * Attaches to the running campaign with this ID; undefined if there is none. Does not start anything.
   * @throws CampaignConflictError if another workflow or campaign runs with this ID
   */
  async attach(id: string, input: CampaignStart): Promise<Started<CampaignResult> | undefined> {
    const found = await findStarted(this.client, id);
    if (found === undefined || (found.type === WORKFLOW.runCampaign && !isOpen(found.status)))
      return undefined;
    requireSame(found, input);
    return this.#attach(id, found.runId);
  }

  /** Returns the newest run with this ID, as listed by the server. Needs no worker. @throws CampaignNotFoundError */
  async describe(id: string): Promise<CampaignExecution> {
    const found = await findCampaign(this.client, id);
    if (found?.type !== WORKFLOW.runCampaign) throw new CampaignNotFoundError(id);
    return found;
  }

  /** Lists the campaigns in the namespace, running ones first, then the newest. @param most 20 by default */
  list(most = 20): Promise<readonly CampaignExecution[]> {
    return listCampaigns(this.client, most);
  }

  /**
   * Returns a campaign's current state, or its last state while its history is retained. Rejects if no worker answers
   * within 15 seconds. The active rows come from up to three batches, each of which has 2 seconds to answer.
   */
  async state(id: string): Promise<CampaignState> {
    return withActiveRows(this.client, await queryCampaignState(this.client, id));
  }

  /** Waits until a campaign ends. Rejects if it was closed externally. */
  result(id: string): Promise<CampaignResult> {
    return this.#attach(id).result();
  }

  /** Returns all results so far, as artifacts. @throws CampaignNotFoundError, CampaignUnreadableError */
  async results(id: string): Promise<ResultsRef> {
    const found = await this.describe(id);
    requireUnpaused(id, found.status);
    return isOpen(found.status)
      ? (await queryCampaignState(this.client, id)).results
      : closedResults(this.client, found);
  }

  /** Yields a campaign's state on every change, until it closes or `signal` aborts. Read-only. */
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
   * Sends an Update to a running campaign: `pause`, `resume`, `cancel` or one from `CampaignUpdates`.
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
   * Resumes a campaign. A paused campaign makes paid calls again. Rows that are still running, set aside, skipped or
   * canceled resume under their existing keys: by an Update while the campaign runs, or by a new run after it has
   * ended.
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
    // A larger budget or resumed rows may lead to purchases.
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
   * Starts a new, paid attempt under a new key for rows with these outcomes. @param outcomes failed and rejected by
   * default
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
      started: await this.#begin(id, input, await this.#beginning(found)),
    };
  }

  async #findStarted(id: string): Promise<CampaignExecution> {
    const found = await findStarted(this.client, id);
    if (found?.type !== WORKFLOW.runCampaign) throw new CampaignNotFoundError(id);
    return found;
  }

  /** Starts a new run for the remaining rows of an ended run. */
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
    const started = await this.#begin(campaign, input, await this.#beginning(found));
    return { by: 'start', rows: null, messages: [], started };
  }

  /** Returns the campaign's input with its later changes, but without the fields that select rows. */
  async #lastInput(found: CampaignExecution, known?: CampaignState): Promise<CampaignStart> {
    if (found.input === null) {
      const message = `The input of campaign "${found.campaign}" is not available: its manifest is not an artifact, or its history cannot be read here. Start the campaign again with its manifest.`;
      throw new CampaignConflictError(found.campaign, message);
    }
    const { select: _select, limit: _limit, sample: _sample, ...input } = found.input;
    const state = known ?? (await this.#lastState(found));
    if (state === undefined) return input;
    const { concurrency, budget, priority } = state;
    return { ...input, concurrency, ...given({ priority: priority ?? undefined, budget: budget?.total }) };
  }

  /** Returns what a run that resumes rows keeps from the run before it, besides its input. */
  async #beginning({ campaign, input }: CampaignExecution) {
    return { scope: input ?? {}, options: await keptOptions(this.client, campaign) };
  }

  /** Returns the last state; undefined if no worker answers. */
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

  /**
   * @param scope limit and sample to store in the memo; a run that resumes rows keeps the values from the first start
   */
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
    const { account = DEFAULT_CREDENTIAL, labels } = input;
    const memo = campaignMemo({ ...lasting, ...given({ limit, sample }) });
    const facts = { campaign: id, account };
    try {
      const handle = await this.client.workflow
        .start(WORKFLOW.runCampaign, {
          ...temporalOptions(this.starter, options, { facts, labels, memo }),
          taskQueue: this.starter.taskQueue,
          workflowId: id,
          workflowIdConflictPolicy: 'FAIL',
          workflowIdReusePolicy: 'ALLOW_DUPLICATE',
          args: [{ ...input, ...given({ previous }) }],
        })
        .catch(refuseUnregistered);
      return started(handle, handle.firstExecutionRunId, true);
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      // Another client has started a run in the meantime. Attach if it is the same campaign.
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

/** Whether the campaign rejected the arguments of an Update. It does so before the Update becomes an event. */
const isInvalidInput = (cause: unknown): cause is ApplicationFailure =>
  cause instanceof ApplicationFailure && cause.type === INVALID_INPUT;

/** Rejects invalid input, because a failed run would become the ID's newest run and hide what earlier runs bought. */
function refuseUnusable(id: string, input: CampaignStart): void {
  const issue = shapeIssue(input, CAMPAIGN_SHAPE);
  if (issue !== undefined) throw new CampaignInputError(id, issue.message);
}

/** Names of a campaign's Updates. `pause`, `resume` and `cancel` take no argument. */
export type CampaignOrder = keyof CampaignUpdates | 'pause' | 'resume' | 'cancel';

/** Arguments of a campaign Update. */
export type OrderInput<Order extends CampaignOrder> = Order extends keyof CampaignUpdates
  ? [CampaignUpdates[Order]]
  : [];

/** Settings that can change when a campaign is resumed. */
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
   * Called before any Update or start with the input to be planned, including earlier results and the selection. If it
   * throws, nothing changes.
   */
  readonly confirm?: (input: CampaignInput) => Promise<void>;
}

/** The result of `resume` and `retry`. */
export interface ResumedCampaign {
  /**
   * `order`: by Updates to the running campaign. `start`: by a new run with the same ID. `nothing`: there was nothing
   * to do.
   */
  readonly by: 'order' | 'start' | 'nothing';
  /** Number of resumed rows; null for a new run, because its plan determines the rows. */
  readonly rows: number | null;
  /** The campaign's replies, for display. */
  readonly messages: readonly string[];
  /** The campaign, newly started or already running. */
  readonly started: Started<CampaignResult>;
}
