import { ExternalStorageNotConfiguredError, ValueError } from '@temporalio/common';
import { otherwise, throwBug } from '../domain/bug';
import { awaitVideoWorkflowId, CodecUnreachableError } from '../client';
import { callWaits } from '../client/ask-worker';
import { type MediaConfig } from '../config';
import { type FoundVideoTask, type ServiceView } from '../domain/activities';
import { isOpen, PAUSED } from '../domain/execution-status';
import { failureRow } from '../domain/failure-table';
import { type JournalKey } from '../domain/journal';
import { WORKFLOW } from '../domain/names';
import { type ImageOutcome, type VideoOutcome } from '../domain/outcome';
import { type VideoState } from '../domain/video-state';
import { type VideoTask } from '../domain/video-task';
import { existingJournal } from '../stores/open-stores';
import { type Connected } from './connect';
import { CliError } from './errors';
import { unpauseText } from './paused';
import { type ExecutionView, viewExecution } from './status/execution-view';
import { failingTask } from './status/failing-task';
import { pinnedWithoutWorker } from './status/pinned-version';
import { searchHistories, taskInHistory } from './status/search-histories';
import { commandFor } from './text';

/** Everything that is known about a workflow id or a task id. */
export interface VideoStatus {
  readonly id: string;
  readonly foundBy: 'workflow_id' | 'journal' | 'visibility' | 'service';
  /** The workflow that handles it now, else the last one that did. */
  readonly workflow: ExecutionView | null;
  /** Other workflows that handled the same task. */
  readonly otherWorkflows: readonly ExecutionView[];
  readonly video: VideoTask | null;
  readonly creationKey: string | null;
  readonly state: VideoState | null;
  readonly outcome: VideoOutcome | ImageOutcome | null;
  readonly service: ServiceView | null;
  /** One sentence: what is safe to do. */
  readonly safe: string;
  /** What could not be read, and why. */
  readonly notes: readonly string[];
}

const QUERY_MS = 6_000;
const MEDIA_WORKFLOWS: ReadonlySet<string> = new Set(Object.values(WORKFLOW));

/**
 * Looks up an id: as a workflow id; then as a task id in the journal's index and in the histories that visibility
 * lists, as a creation key, and at the service. Starts nothing but a look-up and creates nothing. Undefined for an
 * unknown id.
 */
export async function videoStatus(
  connected: Connected,
  config: MediaConfig,
  id: string,
): Promise<VideoStatus | undefined> {
  return new StatusSearch(connected, config, id).run();
}

class StatusSearch {
  private readonly notes: string[] = [];
  private video: VideoTask | null = null;
  private creationKey: string | null = null;
  private hasWorker: boolean | undefined;
  private standsStill: string | undefined;
  /** Histories that may name the task and cannot be read here. */
  private unread = 0;

  constructor(
    private readonly connected: Connected,
    private readonly config: MediaConfig,
    private readonly id: string,
  ) {}

  async run(): Promise<VideoStatus | undefined> {
    this.hasWorker = await this.connected.hasWorker();
    if (this.hasWorker === false)
      this.notes.push(
        `No worker serves the task queue ${this.connected.taskQueue}: the workflow waits until one does.`,
      );
    const own = await this.view(this.id);
    if (own !== undefined && MEDIA_WORKFLOWS.has(own.type)) return this.describe('workflow_id', [own]);
    const found =
      (await this.byJournal(this.id)) ??
      (await this.byVisibility()) ??
      (await this.byKey()) ??
      (await this.byService());
    if (found === undefined && this.unread > 0)
      throw new CliError(
        'payload_unreadable',
        `Whether ${this.id} is known cannot be determined: the payloads of ${this.unread} of the newest video workflows cannot be read here.`,
      );
    return found;
  }

  private async byJournal(taskId: string): Promise<VideoStatus | undefined> {
    const local = await findInLocalJournal(this.config, taskId);
    if (local !== undefined && local.otherAccounts.length > 0)
      this.notes.push(`Tasks of this id are also known under ${local.otherAccounts.join(', ')}.`);
    const found =
      local?.found ?? (this.hasWorker === false ? undefined : await askWorker(this.connected, taskId, false));
    // Without a key it is not in the journal: a worker then answers with the id alone.
    if (found === undefined || found.creationKey === null) return undefined;
    this.video = found.video;
    this.creationKey = found.creationKey;
    const owner = found.workflowId === null ? undefined : await this.view(found.workflowId);
    if (owner === undefined && found.workflowId !== null)
      this.notes.push(`The workflow ${found.workflowId} that made it is not on this server any more.`);
    return this.describe('journal', owner === undefined ? [] : [owner]);
  }

  private async byVisibility(): Promise<VideoStatus | undefined> {
    const { found, searched, unread } = await searchHistories(this.connected.client, this.id);
    if (found === undefined) {
      this.notes.push(`Not in the histories of the ${searched} newest video workflows of this namespace.`);
      this.unread = unread;
      return undefined;
    }
    const owner = await this.view(found.workflowId);
    return this.describe('visibility', owner === undefined ? [] : [owner]);
  }

  /** Finds a creation key in the journal, which keeps what was sent even when the server has lost the workflow. */
  private async byKey(): Promise<VideoStatus | undefined> {
    const found = await findKey(this.connected, this.config, this.id, this.hasWorker !== false);
    if (found === undefined) return undefined;
    this.notes.push(
      `This server has no workflow ${this.id}, but the journal has its key: the server may have been set back to an older copy. Restart the workers then; what was bought is in the journal.`,
    );
    this.creationKey = this.id;
    const byTask = found.taskId === null ? undefined : await this.byJournal(found.taskId);
    return byTask ?? this.status('journal', null, [], null, null, null);
  }

  private async byService(): Promise<VideoStatus | undefined> {
    if (this.hasWorker === false) return undefined;
    const found = await askWorker(this.connected, this.id, true);
    if (found?.service?.known !== true) return undefined;
    this.video = found.video;
    return this.status('service', null, [], null, null, found.service);
  }

  /** Adds the wait for the same task, its state or outcome, and the service's record when no workflow polls. */
  private async describe(
    foundBy: VideoStatus['foundBy'],
    known: readonly ExecutionView[],
  ): Promise<VideoStatus> {
    let [workflow = null] = known;
    let others: readonly ExecutionView[] = [];
    let state = await this.stateOf(workflow);
    let outcome = await this.outcomeOf(workflow);
    this.video ??= state?.video ?? (outcome !== null && 'video' in outcome ? outcome.video : null);
    if (this.video === null && state === null && workflow !== null && ANSWERS_STATE.has(workflow.type))
      this.video = (await taskInHistory(this.connected.client, workflow)) ?? null;
    this.creationKey ??= state?.creationKey ?? null;
    const wait = await this.waitOf(this.video);
    if (wait !== undefined && wait.workflowId !== workflow?.workflowId && !goesOn(workflow)) {
      others = workflow === null ? [] : [workflow];
      workflow = wait;
      state = (await this.stateOf(wait)) ?? state;
      outcome = (await this.outcomeOf(wait)) ?? outcome;
    }
    if (workflow !== null && goesOn(workflow) && workflow.status !== PAUSED)
      this.standsStill = await pinnedWithoutWorker(this.connected.client, workflow.workflowId).catch(
        otherwise(undefined),
      );
    await this.noteImageWaits(workflow);
    const nobodyPolls = !goesOn(workflow) && outcome?.outcome !== 'completed';
    const found =
      this.video !== null && nobodyPolls && this.hasWorker !== false
        ? await askWorker(this.connected, this.video.taskId, true)
        : undefined;
    return this.status(foundBy, workflow, others, state, outcome, found?.service ?? null);
  }

  private status(
    foundBy: VideoStatus['foundBy'],
    workflow: ExecutionView | null,
    otherWorkflows: readonly ExecutionView[],
    state: VideoState | null,
    outcome: VideoStatus['outcome'],
    service: ServiceView | null,
  ): VideoStatus {
    const { id, video, creationKey, notes } = this;
    const facts = { id, foundBy, workflow, otherWorkflows, video, creationKey, state, outcome, service };
    return { ...facts, safe: this.standsStill ?? safeToDo(facts), notes };
  }

  private view(workflowId: string): Promise<ExecutionView | undefined> {
    return viewExecution(this.connected.client, workflowId, (id) => this.connected.workflowUrl(id));
  }

  private async waitOf(video: VideoTask | null): Promise<ExecutionView | undefined> {
    return video === null ? undefined : this.view(awaitVideoWorkflowId(video.account, video.taskId));
  }

  private async stateOf(workflow: ExecutionView | null): Promise<VideoState | null> {
    if (workflow === null || !ANSWERS_STATE.has(workflow.type) || this.hasWorker === false) return null;
    if (workflow.status === PAUSED) return null;
    const { client, media } = this.connected;
    return client
      .withDeadline(Date.now() + QUERY_MS, () => media.videoState(workflow.workflowId))
      .catch(async (error: unknown) => {
        if (error instanceof CodecUnreachableError) throw error;
        const failing = await failingTask(client, workflow.workflowId).catch(otherwise(undefined));
        this.notes.push(
          isUnreadable(error)
            ? unreadable('state')
            : `The state could not be read: ${failing ?? 'no worker answered the query in time.'}`,
        );
        return null;
      });
  }

  /** An image call has no state of its own: a note says whether it waits to be sent. */
  private async noteImageWaits(workflow: ExecutionView | null): Promise<void> {
    if (workflow === null || !IMAGE_CALLS.has(workflow.type) || !goesOn(workflow)) return;
    if (workflow.status === PAUSED || this.hasWorker === false) return;
    const waits = await callWaits(this.connected.client, workflow.workflowId, QUERY_MS).catch(
      (error: unknown) => {
        if (isUnreadable(error)) this.notes.push(unreadable('wait'));
        return [];
      },
    );
    for (const { why, until } of waits)
      this.notes.push(`It waits to be sent, until ${new Date(until).toISOString()}: ${why}`);
  }

  private async outcomeOf(workflow: ExecutionView | null): Promise<VideoStatus['outcome']> {
    if (workflow?.status !== 'COMPLETED' || !HAS_OUTCOME.has(workflow.type)) return null;
    const { workflowId, runId } = workflow;
    const handle = this.connected.client.workflow.getHandle(workflowId, runId);
    const result = handle.result() as Promise<VideoOutcome | ImageOutcome>;
    return result.then(withoutServiceText).catch((error: unknown) => {
      if (!isUnreadable(error)) throw error;
      this.notes.push(unreadable('outcome'));
      return null;
    });
  }
}

/** Another codec, or external storage without its driver, as the SDK reports them. */
function isUnreadable(error: unknown): boolean {
  return error instanceof ValueError || error instanceof ExternalStorageNotConfiguredError;
}

function unreadable(what: string): string {
  return `The ${what} cannot be read here: a codec has encoded it, or it is in external storage. Set TEMPORAL_CODEC_ENDPOINT to the codec server.`;
}

const ANSWERS_STATE: ReadonlySet<string> = new Set([WORKFLOW.generateVideo, WORKFLOW.awaitVideo]);
const IMAGE_CALLS: ReadonlySet<string> = new Set([WORKFLOW.generateImage, WORKFLOW.editImage]);
const HAS_OUTCOME: ReadonlySet<string> = new Set([...ANSWERS_STATE, ...IMAGE_CALLS]);

/** Stands where the service said something: nothing would read as if it had said nothing. */
const NOT_SHOWN = '[its text may repeat the prompt: it is in the result of the workflow]';

/** Removes the service's message, which may repeat a prompt, from output for tickets (C5.4c); kind and code stay. */
function withoutServiceText<Outcome extends VideoOutcome | ImageOutcome>(outcome: Outcome): Outcome {
  if (!('error' in outcome) || outcome.error === undefined || outcome.error.message === null) return outcome;
  return { ...outcome, error: { ...outcome.error, message: NOT_SHOWN } };
}

const goesOn = (workflow: ExecutionView | null): boolean => workflow !== null && isOpen(workflow.status);

type Facts = Omit<VideoStatus, 'safe' | 'notes'>;

function safeToDo({ id, workflow, video, state, outcome, creationKey }: Facts): string {
  if (outcome !== null)
    return (
      failureRow(outcome)?.hint ?? 'It is done. The same id returns the same result; nothing is bought again.'
    );
  // The advice in a state assumes an open workflow, so it does not apply to one that was closed from outside.
  const closed = workflow !== null && !goesOn(workflow);
  if (workflow?.status === PAUSED)
    return `${unpauseText(workflow.workflowId)} Do not start the same video under another id.`;
  if (state !== null && !closed) return state.safe;
  if (goesOn(workflow))
    return 'Wait, or start a worker: it goes on by itself. Do not start the same video under another id.';
  if (video !== null)
    return `Run \`${commandFor('resume', video.taskId)}\`: it polls and downloads, and never creates.`;
  const key = creationKey ?? workflow?.workflowId ?? id;
  return `Start the same request again under the id ${key}: what was bought is adopted, not bought again.`;
}

/** Longest wait for a worker, in milliseconds. */
const WORKER_MS = 20_000;

interface LocalFinding {
  readonly found: FoundVideoTask;
  /** Other accounts that have had a task with this id. */
  readonly otherAccounts: readonly string[];
}

/** Searches the journal of this machine, if MEDIA_JOURNAL or the data directory has one; needs no worker. */
async function findInLocalJournal(config: MediaConfig, taskId: string): Promise<LocalFinding | undefined> {
  try {
    const [entry, ...others] = (await (await existingJournal(config))?.findTask(taskId)) ?? [];
    if (entry === undefined) return undefined;
    const { video, creationKey, workflowId, runId } = entry;
    return {
      found: { video: { ...video, source: 'journal' }, creationKey, workflowId, runId },
      otherAccounts: others.map((other) => other.video.account),
    };
  } catch (error) {
    throwBug(error);
    return undefined;
  }
}

/** What a journal holds under a creation key. */
interface FoundKey {
  /** Null while the outcome of the create is unknown. */
  readonly taskId: string | null;
}

/** Finds a creation key in the journal of this machine, else in a worker's; undefined when neither has it. */
async function findKey(
  { client, media }: Connected,
  config: MediaConfig,
  creationKey: string,
  hasWorker: boolean,
): Promise<FoundKey | undefined> {
  const { namespace } = client.options;
  const local = await keyIn(config, { namespace, creationKey }).catch(otherwise(undefined));
  if (local !== undefined || !hasWorker) return local;
  try {
    const [created] = (await media.reviewJournal({ list: 'created', creationKey })).created;
    if (created !== undefined) return { taskId: created.taskId };
    const { unconfirmed } = await media.reviewJournal({ list: 'unconfirmed', creationKey });
    return unconfirmed.length > 0 ? { taskId: null } : undefined;
  } catch (error) {
    throwBug(error);
    return undefined;
  }
}

async function keyIn(config: MediaConfig, key: JournalKey): Promise<FoundKey | undefined> {
  const journal = await existingJournal(config);
  let found: FoundKey | undefined;
  if (journal === undefined) return found;
  for (let sendAttempt = 0; ; sendAttempt++) {
    const { claim, outcome, resolution } = await journal.read(key, sendAttempt);
    if (claim === null) return found;
    const answer = outcome?.answer.outcome === 'created' ? outcome.answer : resolution?.answer;
    found = { taskId: answer?.outcome === 'created' ? answer.video.taskId : null };
  }
}

/** Asks a worker's journal and, with `askService`, the service; undefined when no worker answers. */
async function askWorker(
  { media }: Connected,
  taskId: string,
  askService: boolean,
): Promise<FoundVideoTask | undefined> {
  return media.findTask(taskId, { askService, timeoutMs: WORKER_MS }).catch(otherwise(undefined));
}
