import { hostname } from 'node:os';
import { join } from 'node:path';
import { type WorkflowHandle } from '@temporalio/client';
import { type FaultRule } from '../../../packages/sandbox/src';
import { TemporalMediaClient } from '../../../src/client';
import { type VideoOutcome } from '../../../src/domain';
import { UPDATE } from '../../../src/domain/names';
import { changeJournal, copyJournal, type JournalChange } from '../../support/changed-journal';
import { eventually } from '../../support/eventually';
import { startMediaStack, type MediaStack } from '../../support/media-stack';
import { resetWorkflow } from '../../support/reset-workflow';
import { dataDirOf, newJournalPlace } from '../../support/store-places';
import { startWorkerProcess, type WorkerProcess } from '../../support/worker-process';
import { type CellFacts, isOfDecision, type Strike } from './crash-points';
import { readLog, recordedTaskIds, sentAgainUnproved, serviceFacts, taskIdOf, wordsOf } from './create-facts';

/** What a struck worker's create came to. */
export interface StruckCell {
  readonly facts: CellFacts;
  /** What the outcome carries of the request, and the state of its billing. */
  readonly kept: readonly unknown[];
  /** Milliseconds from the first create to its going on, or to the death of the process. */
  readonly heldMs: number;
  /** Task ids of its prompt that the service accepted beyond the first and one for a decision. */
  readonly acceptedBeyondOne: number;
  readonly sentAgainUnproved: number;
  /** Task ids that were recorded and that the outcome does not carry. */
  readonly idsLost: number;
}

/** A poll or a stall lasts longer than it takes to bring every workflow to its point. */
const LONG_MS = 30_000;
/** Starting and draining on a loaded machine. */
const MAX_WAIT_MS = 120_000;

const FAULTS: readonly FaultRule[] = [
  {
    operation: 'create',
    promptIncludes: 'request_written/',
    action: { type: 'lose_reply', accepted: true, how: 'stall' },
  },
  {
    operation: 'create',
    promptIncludes: 'reply_headers/',
    action: { type: 'lose_reply', accepted: true, how: 'stall_body' },
  },
  ...['before_decision/', 'decision_durable/'].map((promptIncludes): FaultRule => ({
    operation: 'create',
    promptIncludes,
    action: { type: 'lose_reply', accepted: true, how: 'reset' },
  })),
  { operation: 'poll', promptIncludes: 'poll/', action: { type: 'delay', ms: LONG_MS } },
];

/** Points that take seconds to get to: the others start when these are there. */
const SLOW_POINTS: readonly string[] = ['part_before_publish', 'part_published', 'poll'];

/**
 * One worker process with a workflow at each of the points, struck in that moment; a successor on the same queue and
 * journal. One process for all points is a worker in full work, and costs a twelfth.
 * @param change what becomes of the journal in between, after a SIGKILL
 */
export async function strikeGroup(
  strike: Strike,
  points: readonly string[],
  change?: JournalChange,
): Promise<ReadonlyMap<string, StruckCell>> {
  const stack = await startMediaStack({
    sandbox: { timing: { queuedMs: 0, runningMs: 500 }, faults: [...FAULTS] },
  });
  let group: StrikeGroup | undefined;
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    group?.process.signal('SIGKILL');
    open.delete(stop);
    return (stopping ??= stack.stop());
  };
  open.add(stop);
  try {
    group = await StrikeGroup.start(stack, strike, change);
    await group.bringToPoints(points);
    await group.strike();
    return await group.judge();
  } finally {
    await stop();
  }
}

const open = new Set<() => Promise<void>>();

/** Ends what still runs because a test gave up waiting. */
export async function stopGroups(): Promise<void> {
  await Promise.all([...open].map((stop) => stop()));
}

class StrikeGroup {
  private readonly started = new Map<string, WorkflowHandle>();
  private heldSince = 0;
  private heldMs = 0;

  private constructor(
    private readonly stack: MediaStack,
    private readonly signal: Strike,
    private readonly change: JournalChange | undefined,
    private readonly env: { readonly MEDIA_TASK_QUEUE: string; MEDIA_JOURNAL: string },
    private readonly media: TemporalMediaClient,
    readonly process: WorkerProcess,
  ) {}

  static async start(stack: MediaStack, signal: Strike, change?: JournalChange): Promise<StrikeGroup> {
    const taskQueue = stack.server.uniqueId('struck');
    const env = {
      MEDIA_TASK_QUEUE: taskQueue,
      MEDIA_JOURNAL: await newJournalPlace(join(stack.dataDir, taskQueue, 'journal')),
    };
    const script = join(__dirname, 'parking-worker.js');
    const process = await startWorkerProcess(stack, script, {
      ...env,
      ...dataDirOf(stack.dataDir, 1),
      SELF_SIGNAL: signal,
    });
    const media = new TemporalMediaClient(stack.server.client, { taskQueue });
    if (change === 'restored') await copyJournal(env.MEDIA_JOURNAL);
    return new StrikeGroup(stack, signal, change, env, media, process);
  }

  /** Every workflow is where its name says when this resolves, and the process is struck or about to be. */
  async bringToPoints(points: readonly string[]): Promise<void> {
    const slow = points.filter((point) => SLOW_POINTS.includes(point));
    const quick = points.filter((point) => !SLOW_POINTS.includes(point) && point !== 'first_byte');
    await Promise.all(slow.map((point) => this.bring(point)));
    this.heldSince = Date.now();
    await Promise.all(quick.map((point) => this.bring(point)));
    // The last one strikes the process itself.
    if (points.includes('first_byte')) await this.bring('first_byte');
    else this.process.signal(this.signal);
  }

  private async bring(point: string): Promise<void> {
    const id = `${point}/${this.stack.server.uniqueId('video')}`;
    const { server } = this.stack;
    // One first poll that is far away keeps a workflow waiting between two activities.
    const model = point === 'completion_reported' ? 'cine-1-pro' : 'cine-1';
    const request = { model, prompt: id, durationSeconds: 4, resolution: '720p' };
    const onUnconfirmed = isOfDecision(point) ? 'wait' : 'end';
    const { workflowId } = await this.media.startVideo({ request, onUnconfirmed }, { id });
    const handle = server.client.workflow.getHandle(workflowId);
    this.started.set(point, handle);
    switch (point) {
      case 'request_written':
      case 'reply_headers':
        return void (await eventually(point, () => this.seen('create', id, 'stalled'), MAX_WAIT_MS));
      case 'poll':
        return void (await eventually(point, () => this.seen('poll', id, undefined), MAX_WAIT_MS));
      case 'completion_reported':
        return void (await eventually(point, () => hasCompletion(handle), MAX_WAIT_MS));
      case 'reconcile':
        // An operator's command ends the create without a value, and its sender does not hear of it.
        await this.process.said('at reconcile:create');
        await failPendingActivity(server.client, handle);
        return this.process.said('at reconcile');
      case 'before_decision':
      case 'decision_durable':
        await this.decide(handle);
        return this.process.said(`at ${point}`);
      case 'reply_read':
      case 'answer_durable':
        await this.process.said(`at ${point}`);
        return void (await eventually('the task in a heartbeat', () => hasHeardTask(handle), MAX_WAIT_MS));
      default:
        return this.process.said(`at ${point}`);
    }
  }

  /** A person has the create sent once more, whose reply was lost. The answer comes after the strike. */
  private async decide(handle: WorkflowHandle): Promise<void> {
    const sendId = await eventually(
      'the evidence',
      async () => (await this.media.videoState(handle.workflowId)).evidence?.sendId,
      MAX_WAIT_MS,
    );
    const decision = { sendId, by: 'ada', reason: 'not in the console' };
    handle.executeUpdate(UPDATE.resubmit, { args: [decision] }).catch(() => undefined);
  }

  /** Whether the service has a request of this prompt in this state. */
  private async seen(operation: 'create' | 'poll', prompt: string, finished: 'stalled' | undefined) {
    const task = (await this.stack.sandbox.admin.tasks()).find((one) => one.prompt === prompt);
    const requests = await this.stack.sandbox.admin.requests({ operation });
    return requests.some(
      (request) =>
        request.finished === finished &&
        (operation === 'create'
          ? (request.json as { prompt?: unknown } | undefined)?.prompt === prompt
          : request.taskId === task?.id),
    );
  }

  /** From the strike to the moment in which the successor has everything to itself. */
  async strike(): Promise<void> {
    const { sandbox } = this.stack;
    switch (this.signal) {
      case 'SIGKILL':
        await this.process.gone;
        if (this.change !== undefined)
          this.env.MEDIA_JOURNAL = await changeJournal(this.change, this.env.MEDIA_JOURNAL);
        else this.heldMs = Date.now() - this.heldSince;
        await this.startSuccessor();
        this.heldMs ||= Date.now() - this.heldSince;
        return;
      case 'SIGTERM': {
        await this.process.said('draining');
        this.heldMs = Date.now() - this.heldSince;
        await sandbox.admin.releaseStalled();
        const how = await this.process.gone;
        if (how !== 0) throw new Error(`The drained worker process ended by ${how}.`);
        await this.startSuccessor();
        return;
      }
      case 'SIGSTOP': {
        await this.startSuccessor();
        const identity = `${this.process.pid}@${hostname()}`;
        await Promise.all([...this.started.values()].map((handle) => this.takenOver(handle, identity)));
        this.process.signal('SIGCONT');
        this.heldMs = Date.now() - this.heldSince;
        await this.process.said('continued');
        await sandbox.admin.releaseStalled();
      }
    }
  }

  /** Until the server has given up what the process holds of this workflow, and there is an entry under its key. */
  private async takenOver(handle: WorkflowHandle, identity: string): Promise<void> {
    await givenUp(handle, identity);
    const { MEDIA_JOURNAL } = this.env;
    const { namespace } = this.stack.server;
    await eventually(
      'an entry',
      async () => (await readLog(MEDIA_JOURNAL, namespace, handle.workflowId)).length > 0,
      MAX_WAIT_MS,
    );
  }

  private startSuccessor() {
    return this.stack.startWorker({
      env: { ...this.env, ...dataDirOf(this.stack.dataDir, 2) },
      rebind: this.change !== undefined,
    });
  }

  /**
   * Waits for every outcome and holds it against the service's count and the journal's files. Each workflow is then reset
   * to its beginning, with its Updates applied again: the outcome is the same, and nothing more is sent.
   */
  async judge(): Promise<ReadonlyMap<string, StruckCell>> {
    const { sandbox, server } = this.stack;
    const ended = await Promise.all(
      [...this.started].map(
        async ([point, handle]) =>
          [point, handle.workflowId, (await handle.result()) as VideoOutcome] as const,
      ),
    );
    for (const [point, id, { outcome }] of ended) {
      const again = (await (await resetWorkflow(server, id)).result()) as VideoOutcome;
      if (again.outcome !== outcome)
        throw new Error(`${point}: ${outcome}, and after a reset ${again.outcome}`);
    }
    const facts = serviceFacts(
      await sandbox.admin.requests({ operation: 'create' }),
      await sandbox.admin.tasks(),
    );
    const cells = new Map<string, StruckCell>();
    for (const [point, id, outcome] of ended) {
      const { sends, accepted, taskIds } = facts(id);
      const written = await readLog(this.env.MEDIA_JOURNAL, server.namespace, id);
      const log = written.map(({ entry }) => entry);
      const kept = taskIdOf(outcome);
      const idsLost = recordedTaskIds(written).filter((recorded) => recorded !== kept).length;
      if (kept !== undefined && !taskIds.includes(kept)) throw new Error(`${point}: a task of somebody else`);
      cells.set(point, {
        kept: keptFacts(outcome),
        heldMs: this.heldMs,
        facts: { outcome: outcome.outcome, sends, accepted, log: wordsOf(log) },
        acceptedBeyondOne: Math.max(0, accepted - (isOfDecision(point) ? 2 : 1)),
        sentAgainUnproved: sentAgainUnproved(log),
        idsLost,
      });
    }
    return cells;
  }
}

function keptFacts(outcome: VideoOutcome): readonly unknown[] {
  const from =
    outcome.outcome === 'unconfirmed' ? outcome.evidence : 'video' in outcome ? outcome.video : null;
  return [
    from?.model?.replace('-pro', ''),
    from?.durationSeconds,
    from?.resolution,
    from?.referenceMode,
    outcome.outcome === 'unconfirmed' ? `${outcome.evidence.cause}, ${outcome.billing.state}` : 'known',
  ];
}

async function hasCompletion(handle: WorkflowHandle): Promise<boolean> {
  const { events } = await handle.fetchHistory();
  return (events ?? []).some((event) => event.activityTaskCompletedEventAttributes != null);
}

async function hasHeardTask(handle: WorkflowHandle): Promise<boolean> {
  const { raw } = await handle.describe();
  return (raw.pendingActivities ?? []).some(({ heartbeatDetails }) =>
    (heartbeatDetails?.payloads ?? []).some(({ data }) => Buffer.from(data ?? []).includes('"taskId"')),
  );
}

async function failPendingActivity(
  client: MediaStack['server']['client'],
  handle: WorkflowHandle,
): Promise<void> {
  const [pending] = (await handle.describe()).raw.pendingActivities ?? [];
  const activityId = pending?.activityId;
  if (activityId == null) throw new Error('No activity is open');
  await client.activity.fail(
    { workflowId: handle.workflowId, activityId },
    new Error('failed by an operator'),
  );
}

/** Until the server has given up every attempt that the process with this identity holds. */
async function givenUp(handle: WorkflowHandle, identity: string): Promise<void> {
  await eventually(
    'the timeouts',
    async () => {
      const { raw } = await handle.describe();
      return !(raw.pendingActivities ?? []).some(
        // Started: an attempt that waits for its retry still names the worker of the last one.
        (activity) => Number(activity.state) === STARTED && activity.lastWorkerIdentity === identity,
      );
    },
    MAX_WAIT_MS,
  );
}

/** temporal.api.enums.v1.PendingActivityState */
const STARTED = 2;
