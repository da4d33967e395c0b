import { log } from '@temporalio/activity';
import {
  type MediaActivities,
  type ArtifactStoreFacts,
  type FindVideoTaskInput,
  type FoundVideoTask,
  type ServiceView,
} from '../domain/activities';
import { givenAt } from '../domain/clocks';
import { type CreatePolicy } from '../domain/create-policy';
import { OTHER } from '../domain/ended-video-metrics';
import { type CheckBinding, type CreateJournal, keepsNothing, NO_JOURNAL } from '../domain/journal';
import { given } from '../domain/json';
import { mapConcurrently } from '../domain/map-concurrently';
import { type Metrics, NO_METRICS, unfailing } from '../domain/metrics';
import { type ModelEntry } from '../domain/model-config';
import { ACTIVITY, credentialOf } from '../domain/names';
import { type CreateVideoAnswer } from '../domain/paid-call';
import { type PollVideosInput, type PollVideosResult } from '../domain/poll-answers';
import { recordTaskBill } from '../domain/record-bill';
import { type PollingMode, videoTaskById } from '../domain/video-task';
import { atMostFor } from '../service/time-left';
import { type AccountRegistry } from '../settings/accounts';
import { type ModelSource } from '../settings/model-source';
import { type ArtifactStore } from '../stores/artifacts/artifact-store';
import { journalFault } from '../stores/journal/records';
import { bindingChecker } from './binding/binding-status';
import { createKeepBooks } from './campaign/budget-book';
import { createCampaignImage, createCreateVideos } from './campaign/create-rows';
import { createOpenPage, createPageReader, READS_AT_ONCE } from './campaign/open-page';
import { createPlanCampaign } from './campaign/plan-campaign';
import {
  createCountBills,
  createFoldResults,
  createRecordRows,
  createSettleBatch,
} from './campaign/settle-batch';
import { createCreateVideo } from './create-video';
import { createDeliverVideos, createDownloadVideos } from './deliver-videos';
import { createDownloadVideo } from './download-video';
import { redactorsOf, reported, reportIfMistake, retryOnAnotherWorker, sanitised } from './failures';
import { createImageCall } from './image-call';
import { orRetry } from './key-log';
import { createPaidEvents, PollMetrics } from './media-metrics';
import { type PaidDeps, type TaskRecords } from './paid-context';
import { createPollVideos } from './poll-videos';
import { createReconcileCreate } from './reconcile-create';
import { RefusalGate } from './refusal-gate';
import { pollInSpan } from './spans';
import { countBill } from './spend-book';
import { createResolveUnconfirmed, createReviewJournal } from './unconfirmed-calls';
import { createTellVideos, createWatchVideo, WatchRecovery } from './watchers';

/** The activities' dependencies. The caller closes the stores and clients that it passes. */
export interface MediaActivityDeps {
  /** Credentials, each with a client for its service. */
  readonly accounts: AccountRegistry;
  /** Where results and references are stored. */
  readonly artifacts: ArtifactStore;
  /** The journal, or an explicit `none`. With `none`, only the retry policy prevents a create from being sent twice. */
  readonly journal: CreateJournal | 'none';
  /**
   * Checks whether the journal is bound to the activity's task queue.
   * @default reads the queue's binding with the worker's client, and binds a new queue
   */
  readonly standing?: CheckBinding;
  /** The models' allowed values and prices. */
  readonly models: ModelSource;
  /** Determines what the service's replies prove about a create. @default the strictest policy */
  readonly policy?: CreatePolicy | undefined;
  /** Resolves creates with an unknown outcome automatically, if the service lists its tasks. @default none */
  readonly taskRecords?: TaskRecords | undefined;
  /** Folders from which `{file}` sources may be read. @default none: `{file}` sources are rejected */
  readonly inputRoots?: readonly string[];
  /** Milliseconds between two probe requests for an account or a model that the service refuses. @default one minute */
  readonly refusalProbeMs?: number | undefined;
  /** The create queue's rate limit. If set, a campaign sends each create in its own activity. @default none */
  readonly createsPerSecond?: number | undefined;
  /** Maximum concurrent GETs in one poll tick. @default 64 */
  readonly pollConcurrency?: number;
  /** Runs `media.pollVideos` ticks elsewhere. @default in this thread, with the clients of `accounts` */
  readonly pollVideos?: ((input: PollVideosInput) => Promise<PollVideosResult>) | undefined;
  /** How videos are polled if their input does not specify it. @default 'own' */
  readonly polling?: PollingMode | undefined;
  /** Finds watchers that were closed externally. @default a new one for these activities @hidden */
  readonly recovery?: WatchRecovery | undefined;
  /** Receives the metrics described in docs/metrics.md. @default metrics are not reported */
  readonly metrics?: Metrics | undefined;
}

/** Returns the activities under their registered names, for `Worker.create({ activities })`. */
export function createMediaActivities(deps: MediaActivityDeps): MediaActivities {
  const redactors = () => redactorsOf(deps.accounts);
  return Object.fromEntries(
    Object.entries(bareActivities(deps)).map(([name, run]: [string, (input: never) => Promise<unknown>]) => [
      name,
      async (input: never) => {
        try {
          return await run(input);
        } catch (error) {
          reportIfMistake(error);
          throw await sanitised(error, redactors);
        }
      },
    ]),
  ) as unknown as MediaActivities;
}

function bareActivities(deps: MediaActivityDeps): MediaActivities {
  const journal = deps.journal === 'none' ? NO_JOURNAL : deps.journal;
  const metrics = unfailing(deps.metrics ?? NO_METRICS);
  const events = createPaidEvents({
    metrics,
    log: (level, message, facts) => {
      log.log(level, message, facts);
    },
    holdsSecret: async () => {
      const redactors = await redactorsOf(deps.accounts);
      return (id) => redactors.some((redactor) => redactor.holdsSecret(id));
    },
  });
  const accounts = () => deps.accounts.all().map(({ name }) => name);
  const paid: PaidDeps = {
    accounts: deps.accounts,
    artifacts: deps.artifacts,
    models: deps.models,
    journal,
    checkBinding:
      deps.standing ??
      (keepsNothing(journal) ? nothingToBind : bindingChecker(journal, deps.artifacts, accounts)),
    policy: deps.policy,
    gate: new RefusalGate({ probeMs: deps.refusalProbeMs, onChange: events.gate }),
    taskRecords: deps.taskRecords,
    inputRoots: deps.inputRoots ?? [],
    events,
  };
  const downloads = {
    accounts: (account: string) => deps.accounts.find(account)?.client,
    artifacts: deps.artifacts,
    events,
  };
  // Shared by all activities, so that pages stay in memory for later batches.
  const pages = createPageReader(deps.artifacts);
  return {
    [ACTIVITY.createVideo]: then(createCreateVideo(paid), (answer) =>
      givenNow(polledAs(deps.polling, answer)),
    ),
    [ACTIVITY.reconcileCreate]: then(createReconcileCreate(paid), (answer) =>
      givenNow(polledAs(deps.polling, answer)),
    ),
    [ACTIVITY.findVideoTask]: createFindVideoTask({ ...deps, journal }),
    [ACTIVITY.artifactStore]: createArtifactStoreFacts(deps.artifacts),
    [ACTIVITY.pollVideos]: byItsWorker(
      deps.pollVideos ?? createPollVideos(deps),
      { ...deps, journal },
      new PollMetrics(metrics),
    ),
    [ACTIVITY.watchVideo]: createWatchVideo(deps.recovery ?? new WatchRecovery(metrics), metrics),
    [ACTIVITY.tellVideos]: createTellVideos(metrics),
    [ACTIVITY.deliverVideos]: createDeliverVideos(downloads, metrics),
    [ACTIVITY.downloadVideo]: createDownloadVideo(downloads),
    // A caller that does not set `waits` receives only outcomes.
    [ACTIVITY.generateImage]: createImageCall(
      'generate_image',
      paid,
    ) as MediaActivities[typeof ACTIVITY.generateImage],
    [ACTIVITY.editImage]: createImageCall('edit_image', paid) as MediaActivities[typeof ACTIVITY.editImage],
    [ACTIVITY.resolveUnconfirmed]: then(createResolveUnconfirmed(paid), (result) => ({
      ...result,
      answer: polledAs(deps.polling, result.answer),
    })),
    [ACTIVITY.reviewJournal]: createReviewJournal({ journal }),
    [ACTIVITY.planCampaign]: createPlanCampaign({ ...paid, createsPerSecond: deps.createsPerSecond }),
    [ACTIVITY.openPage]: createOpenPage({ pages, journal }),
    [ACTIVITY.createVideos]: then(createCreateVideos(paid, pages), ({ answers }) => ({
      answers: answers.map(givenNow),
    })),
    [ACTIVITY.downloadVideos]: createDownloadVideos(downloads),
    [ACTIVITY.campaignImage]: then(createCampaignImage(paid, pages), givenNow),
    [ACTIVITY.recordRows]: createRecordRows(deps),
    [ACTIVITY.foldResults]: createFoldResults(deps),
    [ACTIVITY.keepBooks]: createKeepBooks(paid, pages),
    [ACTIVITY.settleBatch]: createSettleBatch(paid, pages),
    [ACTIVITY.countBills]: createCountBills(paid, pages),
  };
}

function then<Input, Result>(
  run: (input: Input) => Promise<Result>,
  change: (result: Result) => Result,
): typeof run {
  return async (input) => change(await run(input));
}

const givenNow = <Answer extends object>(answer: Answer): Answer => givenAt(answer, Date.now());

/**
 * Adds the worker's default polling mode to a created task, because a workflow cannot read the worker's environment.
 */
function polledAs<Answer extends CreateVideoAnswer | null>(
  polling: PollingMode | undefined,
  answer: Answer,
): Answer {
  return polling === undefined || answer?.outcome !== 'created' ? answer : { ...answer, polling };
}

/**
 * Returns a tick for another worker's account to the queue early enough that the workflow sees only the tasks that no
 * worker could poll. All other ticks are counted, traced and logged here, because the poll thread cannot do that.
 */
function byItsWorker(
  pollVideos: MediaActivities[typeof ACTIVITY.pollVideos],
  { accounts, models, journal }: Pick<PaidDeps, 'accounts' | 'models' | 'journal'>,
  polls: PollMetrics,
): typeof pollVideos {
  const rules = new ActualRules();
  return async (bare) => {
    const account = accounts.find(bare.account);
    if (account === undefined) retryOnAnotherWorker(bare.budgetMs);
    const name = account?.name ?? OTHER;
    const input = account === undefined ? bare : await rules.addTo(bare, account.models ?? models);
    const result = await pollInSpan(name, input, () => pollVideos(input));
    polls.count(name, input, result);
    await billsOf(journal, name, input, result);
    const { shortage } = result;
    if (shortage !== undefined) {
      log.warn(
        `Polls are waiting for sockets: MEDIA_POLL_CONNECTIONS=${shortage.connections} is too low for the number of videos in flight and the ` +
          `service's latency. Set it to at least ${shortage.needed}. Until then, videos are polled less often and finish later.`,
      );
    }
    return result;
  };
}

/** Longest delay of a tick by a slow model configuration, and by bills that a slow journal records, in milliseconds. */
const RULES_WITHIN_MS = 250;
const BILLS_WITHIN_MS = 2_000;

/** The models' rules about what calls cost. Polls do not wait for the configuration: the last known rules apply. */
class ActualRules {
  private readonly known = new WeakMap<ModelSource, readonly ModelEntry[]>();

  async addTo(input: PollVideosInput, models: ModelSource): Promise<PollVideosInput> {
    const entries = await atMostFor(models.all(), RULES_WITHIN_MS).catch(reported(undefined));
    if (entries !== undefined) this.known.set(models, entries);
    const rules = (this.known.get(models) ?? []).filter(({ actual }) => actual !== undefined);
    if (rules.length === 0) return input;
    const byModel = input.byModel.map((batch) => ({
      ...batch,
      ...given({ actual: rules.find(({ id }) => id === batch.model)?.actual }),
    }));
    return { ...input, byModel };
  }
}

/** Records the bills in a tick's final records. A slow journal continues after the tick. */
async function billsOf(
  journal: CreateJournal,
  account: string,
  { byModel }: PollVideosInput,
  { answers }: PollVideosResult,
): Promise<void> {
  const billed = answers.flatMap((answer) =>
    'record' in answer && answer.record.actual !== undefined
      ? [[answer.index, answer.record.actual] as const]
      : [],
  );
  if (billed.length === 0) return;
  const ids = byModel.flatMap((batch) => batch.ids);
  const recording = mapConcurrently(billed, READS_AT_ONCE, async ([index, actual]) => {
    const taskId = ids[index] ?? '';
    try {
      const bill = await recordTaskBill(journal, { taskId, account }, actual, new Date().toISOString());
      if (typeof bill === 'object' && bill.isNew) await countBill(journal, bill.send, actual);
      if (bill === 'currency') log.warn(OTHER_CURRENCY, { taskId, currency: actual.currency });
    } catch (error) {
      reportIfMistake(error);
      log.warn(BILL_NOT_RECORDED, { taskId, cause: journalFault(error) });
    }
  });
  await atMostFor(recording, BILLS_WITHIN_MS);
}

const OTHER_CURRENCY =
  "The service's amount for a task was not recorded, because its currency is not the estimate's. Correct `actual` in the model's configuration, or record the bill with `temporal-media money settle`.";
const BILL_NOT_RECORDED =
  "The service's amount for a task could not be written to the journal, so budgets count its estimate. Wait for the task again, or record the bill with `temporal-media money settle`.";

/** Without a journal, nothing can be proven and nothing needs a binding. */
const nothingToBind: CheckBinding = async () => ({
  bound: true,
  journalId: '',
  boundSince: new Date(0).toISOString(),
});

/** Returns the ID of this worker's store, for a client that reads its results there. */
export function createArtifactStoreFacts(store: ArtifactStore): () => Promise<ArtifactStoreFacts> {
  return async () => ({ storeId: (await store.identity?.()) ?? null });
}

/** Finds a task ID in this worker's journal. An unknown task is described only by its ID (architecture: Wait). */
export function createFindVideoTask(deps: {
  readonly accounts: AccountRegistry;
  readonly journal: CreateJournal;
  /** How videos are polled if their input does not specify it. @default 'own' */
  readonly polling?: PollingMode | undefined;
}): (input: FindVideoTaskInput) => Promise<FoundVideoTask> {
  const find = async ({ taskId, account }: FindVideoTaskInput): Promise<FoundVideoTask> => {
    const resolved = deps.accounts.find(account)?.name ?? account;
    const entries = await deps.journal.findTask(taskId).catch(orRetry);
    const entry =
      account === undefined
        ? (entries.find((candidate) => candidate.video.account === resolved) ?? entries[0])
        : // The account may belong to another worker and be named without its digest.
          entries.find(({ video }) => video.account === resolved || credentialOf(video.account) === resolved);
    if (entry === undefined) {
      return {
        video: videoTaskById(taskId, resolved ?? 'default'),
        creationKey: null,
        workflowId: null,
        runId: null,
      };
    }
    return {
      video: { ...entry.video, source: 'journal' },
      creationKey: entry.creationKey,
      workflowId: entry.workflowId,
      runId: entry.runId,
    };
  };
  return async (input) => {
    const found = { ...(await find(input)), ...given({ polling: deps.polling }) };
    if (input.askService !== true) return found;
    return { ...found, service: await serviceView(deps.accounts, found) };
  };
}

/** Tries only once, because the caller wants whatever state can be read right now. */
async function serviceView(accounts: AccountRegistry, { video }: FoundVideoTask): Promise<ServiceView> {
  const client = accounts.find(video.account)?.client;
  if (client === undefined) {
    retryOnAnotherWorker();
    return { known: false, error: 'account_not_configured' };
  }
  const result = await client.getVideo(video.taskId);
  if (result.kind === 'error') {
    const { error, httpStatus } = result;
    return { known: false, error, ...given({ httpStatus }) };
  }
  const { status, phase, progress, error } = result.record;
  return {
    known: true,
    httpStatus: result.httpStatus,
    status,
    phase,
    ...given({ progress, errorKind: error?.kind }),
  };
}
