import { type Client } from '@temporalio/client';
import {
  type ServiceView,
  type ImageOutcome,
  type VideoOutcome,
  type Money,
  type DecidedEntry,
  type VideoState,
  type VideoTask,
} from 'temporal-media';
import { awaitVideoWorkflowId, CodecUnreachableError } from 'temporal-media/client';
import { callWaits, JournalLookup } from 'temporal-media/internal/client/ask-worker';
import { startedActivity, videoState } from 'temporal-media/internal/client/workflow-handle';
import { otherwise } from 'temporal-media/internal/domain/bug';
import { decisionInForce } from 'temporal-media/internal/domain/closed-call';
import { keySource } from 'temporal-media/internal/domain/creation-key';
import {
  baseTaskQueue,
  isImageWorkflow,
  isMediaWorkflow,
  isOpen,
  PAUSED,
  WORKFLOW,
} from 'temporal-media/internal/domain/names';
import { type CreateJournal } from 'temporal-media/stores';
import {
  type CaseFacts,
  type ExecutionView,
  goesOn,
  isPaidCall,
  isVideoCall,
  type OpenActivity,
  type StandaloneCall,
} from './case';
import { type PollerKind, viewExecution, viewStandalone } from './execution-state';
import { whyHeld } from './held-workflow';
import { keyOfActivity, keyOfWorkflow, loggedOutcome } from './key-of-call';
import {
  estimateOf,
  isUnreadable,
  keyOfOutcome,
  unreadableNote,
  withoutServiceText,
} from './readable-outcome';
import { earlierRuns, outcomeOfCall, ownCalls, searchHistories, taskInHistory } from './search-histories';

/** The sources that a case is gathered from. */
export interface CaseSource {
  readonly client: Client;
  /** The queue whose workers are queried, unless a workflow specifies another queue. */
  readonly taskQueue: string;
  /** This machine's journal. @default only the workers' journal */
  readonly journal?: CreateJournal | undefined;
  /** Whether the service may be queried, with one GET, for a task that no workflow polls. */
  readonly askService: boolean;
  /** Whether a worker polls a queue. Undefined if unknown. */
  hasWorker(taskQueue: string, kind?: PollerKind): Promise<boolean | undefined>;
  /** Returns a web UI link to a workflow, or undefined when no UI is known. */
  workflowUrl(workflowId: string): string | undefined;
}

export interface GatheredCase extends CaseFacts {
  /** Facts that could not be read, with the reasons. */
  readonly notes: readonly string[];
}

/** The result of the search. `unread` counts histories that may contain the id but cannot be read here. */
export type Gathered = GatheredCase | { readonly unread: number };

const QUERY_MS = 6_000;

/**
 * Collects what is known about an id. Tries the id as a workflow id, as a task id (in the journal's index and in the
 * histories that visibility lists), and as a creation key, and queries the service. It starts only lookups and creates
 * nothing.
 */
export function gatherCase(source: CaseSource, id: string): Promise<Gathered> {
  return new Gathering(source, id).run();
}

class Gathering {
  private readonly notes: string[] = [];
  private readonly journal: JournalLookup;
  private video: VideoTask | null = null;
  private creationKey: string | null = null;
  private estimate: Money | null = null;
  private taskQueue: string;
  private hasWorker: boolean | undefined;

  constructor(
    private readonly source: CaseSource,
    private readonly id: string,
  ) {
    this.journal = new JournalLookup(source.client, source.journal);
    this.taskQueue = baseTaskQueue(source.taskQueue);
  }

  async run(): Promise<Gathered> {
    const own = await this.ownExecution();
    if (own !== undefined) return own;
    await this.useQueue(this.taskQueue);
    const found = (await this.byJournal(this.id)) ?? (await this.byVisibility());
    if (found !== undefined && !('unread' in found)) return found;
    return (await this.byKey()) ?? (await this.byService()) ?? { unread: found?.unread ?? 0 };
  }

  /** Describes the id's newest execution: a workflow, or an activity without one. Their creation key is the same. */
  private async ownExecution(): Promise<GatheredCase | undefined> {
    const [workflow, activity] = await Promise.all([
      this.view(this.id),
      viewStandalone(this.source.client, this.id),
    ]);
    const isActivity = activity !== undefined && (workflow?.startedAt ?? '') <= activity.startedAt;
    const other = isActivity ? workflow : activity;
    if (other !== undefined)
      this.notes.push(
        `${isActivity ? 'A workflow' : 'An activity without a workflow'} with this id was started at ${other.startedAt}.`,
      );
    if (isActivity) return this.describeActivity(activity);
    return workflow && this.describe('workflow_id', workflow);
  }

  private async describeActivity(activity: StandaloneCall): Promise<GatheredCase | undefined> {
    // A caller may have named any queue. Only the workers' own image queue has their name in it.
    const base = baseTaskQueue(activity.taskQueue);
    await this.useQueue(base === activity.taskQueue ? this.taskQueue : base);
    const outcome = await this.outcomeOfActivity(activity);
    this.creationKey ??=
      keyOfOutcome(outcome) ??
      (await keyOfActivity(this.source.client, activity)) ??
      (await this.idIfKey(activity.activityId, null));
    this.estimate = estimateOf(outcome);
    const decisions = isOpen(activity.status) ? [] : await this.decisionsOf(null, outcome);
    return this.facts('activity_id', { activity, outcome, decisions });
  }

  /** Uses the workflow's own queue, not the queue set in the shell, to find its workers. */
  private async useQueue(taskQueue: string): Promise<void> {
    this.taskQueue = baseTaskQueue(taskQueue);
    this.hasWorker = await this.source.hasWorker(this.taskQueue);
  }

  /** The queue whose worker can be queried. Undefined if there is none. */
  private get asked(): string | undefined {
    return this.hasWorker === false ? undefined : this.taskQueue;
  }

  private async byJournal(taskId: string): Promise<GatheredCase | undefined> {
    const known = await this.journal.task(taskId, this.asked);
    if (known === undefined) return undefined;
    const { found, others } = known;
    if (others.length > 0)
      this.notes.push(`Tasks with this id also exist under other accounts: ${others.join(', ')}.`);
    this.video = found.video;
    this.creationKey = found.creationKey;
    const owner = found.workflowId === null ? undefined : await this.view(found.workflowId);
    if (owner === undefined && found.workflowId !== null)
      this.notes.push(`Workflow ${found.workflowId}, which created it, no longer exists on this server.`);
    return this.describe('journal', owner ?? null);
  }

  private async byVisibility(): Promise<Gathered | undefined> {
    const { found, searched, unread } = await searchHistories(this.source.client, this.id);
    if (found !== undefined) return this.describe('visibility', (await this.view(found.workflowId)) ?? null);
    this.notes.push(`Not found in the histories of this namespace's ${searched} newest video workflows.`);
    return { unread };
  }

  /** Looks up the id as a creation key. The journal records what was sent even if the server has lost the workflow. */
  private async byKey(): Promise<GatheredCase | undefined> {
    const found = await this.journal.key(this.id, this.asked);
    if (found === undefined) return this.byMaker(keySource(this.id)?.workflowId);
    this.creationKey = this.id;
    this.video = await this.journal.taskOf({ ...found, creationKey: this.id }, this.asked);
    const logged = loggedOutcome(found, this.id);
    // The key of a row or of a call in the user's own workflow is not a workflow id.
    const owner = found.workflowId === null ? undefined : await this.view(found.workflowId);
    if (owner === undefined)
      this.notes.push(
        found.workflowId === null
          ? `The server has no workflow or activity ${this.id}, but the journal contains its key: its history or record has been deleted, for example after the retention period. The journal contains everything that was bought.`
          : `This server has no workflow ${this.id}, but the journal contains its key. If the server was restored from an older copy, restart the workers. The journal contains everything that was bought.`,
      );
    return this.describe('journal', owner ?? null, logged && withoutServiceText(logged));
  }

  /** Finds a call in the history of the workflow that derived its key, if no journal that knows it can be read. */
  private async byMaker(id: string | undefined): Promise<GatheredCase | undefined> {
    const maker = id === undefined ? undefined : await this.view(id);
    if (maker === undefined || isMediaWorkflow(maker.type)) return undefined;
    const outcome = await outcomeOfCall(this.source.client, maker, this.id).catch(otherwise(undefined));
    if (outcome === undefined) return undefined;
    this.creationKey = this.id;
    return this.describe('visibility', maker, outcome && withoutServiceText(outcome));
  }

  private async byService(): Promise<GatheredCase | undefined> {
    if (!this.source.askService) return undefined;
    const found = await this.journal.ask(this.id, this.asked, true);
    if (found?.service?.known !== true) return undefined;
    this.video = found.video;
    return this.facts('service', { service: found.service });
  }

  /**
   * Adds decisions, the task's later wait, its state or outcome, and, if no workflow polls it, the service's record.
   * @param logged how the call ended according to the journal, if its workflow has no outcome for this call
   */
  private async describe(
    foundBy: CaseFacts['foundBy'],
    first: ExecutionView | null,
    logged: CaseFacts['outcome'] = null,
  ): Promise<GatheredCase> {
    if (first !== null) await this.useQueue(first.taskQueue);
    let workflow = first;
    let state = await this.stateOf(first);
    let outcome = first !== null && isPaidCall(first) ? await this.outcomeOf(first) : logged;
    this.video ??= state?.video ?? (outcome !== null && 'video' in outcome ? outcome.video : null);
    if (this.video === null && state === null && first !== null && isVideoCall(first))
      this.video = (await taskInHistory(this.source.client, first)) ?? null;
    this.creationKey ??= state?.creationKey ?? keyOfOutcome(outcome) ?? (await this.keyOf(first));
    this.estimate = state?.estimate ?? estimateOf(outcome);
    if (outcome === null) this.video ??= await this.unseenTask(first);
    const decisions = await this.decisionsOf(first, outcome);
    const adopted = decisionInForce(outcome, decisions);
    if (adopted !== undefined) this.video ??= await this.journal.taskOf(adopted, this.asked);
    const wait = await this.waitAfter(first);
    if (wait !== undefined) {
      workflow = wait;
      state = (await this.stateOf(wait)) ?? (isOpen(wait.status) ? null : state);
      outcome = await this.outcomeOf(wait);
      this.estimate ??= state?.estimate ?? estimateOf(outcome);
    }
    const service = await this.serviceOf(workflow, outcome);
    const others = first === null || workflow === first ? [] : [first];
    return this.facts(foundBy, { workflow, otherWorkflows: others, state, outcome, decisions, service });
  }

  private async facts(foundBy: CaseFacts['foundBy'], found: Partial<CaseFacts>): Promise<GatheredCase> {
    const { id, video, creationKey, estimate, notes } = this;
    const { workflow = null } = found;
    const isOwn = workflow !== null && !isMediaWorkflow(workflow.type);
    const runs =
      workflow === null ? [] : await earlierRuns(this.source.client, found.otherWorkflows?.[0] ?? workflow);
    const calls = isOwn ? await ownCalls(this.source.client, workflow).catch(otherwise([])) : [];
    await this.noteImageWaits(workflow);
    return {
      ...{
        id,
        foundBy,
        video,
        creationKey,
        estimate,
        notes,
        calls,
        earlierRuns: runs,
        held: await this.heldBy(workflow),
        unserved: await this.unservedBy(
          found.activity == null ? workflow?.pendingActivities : [found.activity],
        ),
      },
      ...{
        workflow,
        activity: null,
        otherWorkflows: [],
        state: null,
        outcome: null,
        service: null,
        decisions: [],
      },
      ...{ hasWorker: this.hasWorker ?? null, ...found },
    };
  }

  /** Returns the creation key of a workflow that makes one paid call; null if it is unknown. */
  private async keyOf(workflow: ExecutionView | null): Promise<string | null> {
    if (workflow === null || !isPaidCall(workflow) || workflow.type === WORKFLOW.awaitVideo) return null;
    const key = await keyOfWorkflow(this.source.client, workflow);
    const { workflowId } = workflow;
    return key ?? (goesOn(workflow) ? null : this.idIfKey(workflowId, workflowId));
  }

  /** Returns an id if the journal shows that its call was sent under it as the key; otherwise null. */
  private async idIfKey(id: string, workflowId: string | null): Promise<string | null> {
    const sent = await this.journal.key(id, this.asked);
    return sent?.workflowId === workflowId ? id : null;
  }

  /** Returns the task of a video whose workflow was closed before it knew the task. */
  private async unseenTask(first: ExecutionView | null): Promise<VideoTask | null> {
    const { creationKey } = this;
    if (creationKey === null || first === null || !isVideoCall(first) || goesOn(first)) return null;
    const sent = await this.journal.key(creationKey, this.asked);
    return sent === undefined ? null : this.journal.taskOf({ ...sent, creationKey }, this.asked);
  }

  private view(workflowId: string): Promise<ExecutionView | undefined> {
    return viewExecution(this.source.client, workflowId, (id) => this.source.workflowUrl(id));
  }

  /** Returns the workflow that waits for the task, if it is still running or ended after the first workflow. */
  private async waitAfter(first: ExecutionView | null): Promise<ExecutionView | undefined> {
    const { video } = this;
    if (video === null || goesOn(first)) return undefined;
    const wait = await this.view(awaitVideoWorkflowId(video.account, video.taskId));
    if (wait === undefined || wait.workflowId === first?.workflowId) return undefined;
    const isLater = (wait.closedAt ?? '9') > (first?.closedAt ?? '');
    return isLater ? wait : undefined;
  }

  private async decisionsOf(
    first: ExecutionView | null,
    outcome: CaseFacts['outcome'],
  ): Promise<readonly DecidedEntry[]> {
    const mayBeDecided =
      outcome === null
        ? !goesOn(first) && (first === null || isPaidCall(first))
        : outcome.outcome === 'unconfirmed' || outcome.outcome === 'results_lost';
    if (!mayBeDecided || this.creationKey === null) return [];
    const found = await this.journal.decisions(this.creationKey, this.asked);
    if (found === undefined)
      this.notes.push(
        'It is unknown whether a person has decided about it, because no worker could be queried.',
      );
    return found ?? [];
  }

  private async serviceOf(
    workflow: ExecutionView | null,
    outcome: CaseFacts['outcome'],
  ): Promise<ServiceView | null> {
    if (!this.source.askService || this.video === null) return null;
    if (goesOn(workflow) || outcome?.outcome === 'completed') return null;
    return (await this.journal.ask(this.video.taskId, this.asked, true))?.service ?? null;
  }

  /** Returns a queue on which an activity waits although no worker polls it, perhaps since an operator moved it. */
  private async unservedBy(activities: readonly OpenActivity[] = []): Promise<string | null> {
    for (const queue of new Set(activities.map(({ queuedOn }) => queuedOn)))
      if (queue !== null && (await this.source.hasWorker(queue, 'activities')) === false) return queue;
    return null;
  }

  private async heldBy(workflow: ExecutionView | null): Promise<string | null> {
    if (workflow === null || !goesOn(workflow) || workflow.status === PAUSED) return null;
    return whyHeld(this.source.client, workflow);
  }

  private async stateOf(workflow: ExecutionView | null): Promise<VideoState | null> {
    if (workflow === null || !isVideoCall(workflow) || this.hasWorker === false) return null;
    if (workflow.status === PAUSED) return null;
    const { client } = this.source;
    return client
      .withDeadline(Date.now() + QUERY_MS, () => videoState(client, workflow.workflowId))
      .catch((error: unknown) => {
        if (error instanceof CodecUnreachableError) throw error;
        this.notes.push(
          isUnreadable(error)
            ? unreadableNote('state', error)
            : 'The state could not be read, because no worker responded to the query in time.',
        );
        return null;
      });
  }

  /** Notes whether an image call is waiting to be sent, because image calls have no separate state. */
  private async noteImageWaits(workflow: ExecutionView | null): Promise<void> {
    if (workflow === null || !isImageWorkflow(workflow.type) || !goesOn(workflow)) return;
    if (workflow.status === PAUSED || this.hasWorker === false) return;
    const waits = await callWaits(this.source.client, workflow.workflowId, QUERY_MS).catch(
      (error: unknown) => {
        if (isUnreadable(error)) this.notes.push(unreadableNote('wait', error));
        return [];
      },
    );
    for (const { why, until } of waits)
      this.notes.push(`It is waiting to be sent until ${new Date(until).toISOString()}: ${why}`);
  }

  private async outcomeOf(workflow: ExecutionView | null): Promise<CaseFacts['outcome']> {
    if (workflow?.status !== 'COMPLETED' || !isPaidCall(workflow)) return null;
    const handle = this.source.client.workflow.getHandle(workflow.workflowId, workflow.runId);
    return this.readOutcome(handle.result() as Promise<VideoOutcome | ImageOutcome>);
  }

  private async outcomeOfActivity(activity: StandaloneCall): Promise<CaseFacts['outcome']> {
    if (activity.status !== 'COMPLETED') return null;
    const { client } = this.source;
    const handle = client.activity.getHandle(activity.activityId, activity.runId);
    return this.readOutcome(startedActivity<ImageOutcome>(client, handle, false).result());
  }

  private readOutcome(result: Promise<VideoOutcome | ImageOutcome>): Promise<CaseFacts['outcome']> {
    return result.then(withoutServiceText).catch((error: unknown) => {
      if (!isUnreadable(error)) throw error;
      this.notes.push(unreadableNote('outcome', error));
      return null;
    });
  }
}
