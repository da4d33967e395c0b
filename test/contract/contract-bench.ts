import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Info } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import {
  type FaultRule,
  type SandboxAdmin,
  type SandboxOperation,
  type SandboxOptions,
  type SandboxRequest,
} from '../../packages/sandbox/src';
import { createMediaActivities } from '../../src/activities/create-media-activities';
import { createDownloadVideo } from '../../src/activities/download-video';
import { type MediaActivities } from '../../src/domain/activities';
import { type CreatePolicy } from '../../src/domain/create-policy';
import {
  type DownloadBounds,
  type DownloadVideoInput,
  type DownloadVideoResult,
} from '../../src/domain/download';
import { type ModelEntry } from '../../src/domain/model-config';
import { type ImageOutcome } from '../../src/domain/outcome';
import {
  type CreatedVideo,
  type CreateVideoAnswer,
  type CreateVideoInput,
  type EditImageInput,
  type GenerateImageInput,
} from '../../src/domain/paid-call';
import { type PollAnswer } from '../../src/domain/poll-answers';
import {
  type ImageEditRequest,
  type ImageGenerationRequest,
  type VideoRequest,
} from '../../src/domain/request';
import { type VideoTask } from '../../src/domain/video-task';
import { environmentConnections } from '../../src/service/connections';
import { createMediaClient } from '../../src/service/create-media-client';
import { accountName, normaliseBaseUrl } from '../../src/service/endpoint';
import { type MediaClient } from '../../src/service/media-client';
import { accountRegistry } from '../../src/settings/accounts';
import { createModelSource } from '../../src/settings/model-source';
import { FileArtifactStore } from '../../src/stores/artifacts/file-store';
import { createFileJournal } from '../../src/stores/journal/file-journal';
import { firstAttempt } from '../support/first-attempt';
import { alwaysBound } from '../support/queue-binding';
import { startTestSandbox, type TestSandbox } from '../support/shared-sandbox';
import { capturing, everythingOf } from './capture-diagnostics';

export interface BenchOptions {
  readonly sandbox?: SandboxOptions;
  readonly apiKey?: () => string;
  /** What is pasted as the base address. @default the sandbox's own */
  readonly baseUrl?: (url: string) => string;
  /** Entries instead of the sandbox's own document; `none` for a worker without MEDIA_MODELS. */
  readonly models?: readonly ModelEntry[] | 'none';
  /** Replaces calls of the real client, for example to give them less time. */
  readonly client?: (client: MediaClient) => MediaClient;
  readonly policy?: CreatePolicy;
  readonly bounds?: Partial<DownloadBounds>;
}

/** A retryable failure as the server of Temporal would see it. */
export interface LaterTry {
  readonly class: string;
  readonly delayMs: number | undefined;
  readonly httpStatus: number | null;
}

/** The real activities over a real client, file stores and journal, against a sandbox in a process of its own. */
export interface ContractBench {
  readonly sandbox: TestSandbox;
  readonly admin: SandboxAdmin;
  readonly activities: MediaActivities;
  readonly client: MediaClient;
  readonly account: string;
  readonly store: FileArtifactStore;
  /** Temporary folder with everything that is kept: `artifacts`, `journal`, `inputs`. */
  readonly root: string;
  /** Everything that was heartbeated, logged and thrown, as text. */
  readonly diagnostics: string[];
  /** One execution of an activity. */
  run<Name extends keyof MediaActivities>(
    name: Name,
    input: Parameters<MediaActivities[Name]>[0],
    info?: Partial<Info>,
  ): Promise<Awaited<ReturnType<MediaActivities[Name]>>>;
  create(
    request: Partial<VideoRequest>,
    input?: Partial<CreateVideoInput>,
    info?: Partial<Info>,
  ): Promise<CreateVideoAnswer>;
  created(request?: Partial<VideoRequest>): Promise<CreatedVideo>;
  generate(
    request: Partial<ImageGenerationRequest>,
    input?: Partial<GenerateImageInput>,
    info?: Partial<Info>,
  ): Promise<ImageOutcome>;
  edit(request: Partial<ImageEditRequest>, input?: Partial<EditImageInput>): Promise<ImageOutcome>;
  poll(video: Pick<VideoTask, 'taskId' | 'model'>, seen?: string): Promise<PollAnswer | undefined>;
  /** All tries of a download, without the delays between them. */
  download(
    video: VideoTask,
    input?: Partial<DownloadVideoInput>,
  ): Promise<{ result: DownloadVideoResult; tries: LaterTry[] }>;
  /** Requests in order of arrival, without those for the model configuration. */
  seen(operation?: SandboxOperation): Promise<SandboxRequest[]>;
  fault(operation: SandboxOperation, action: FaultRule['action'], rest?: Partial<FaultRule>): Promise<void>;
  /** A file below the input root. */
  input(name: string, bytes: Uint8Array): Promise<string>;
  /** Forgets what the sandbox saw; throws when any of it broke the contract. */
  reset(): Promise<void>;
  /** As a worker that starts anew: it remembers nothing of what the service refused. */
  restart(): void;
  close(): Promise<void>;
}

export const KEY = 'sandbox-key';

export const digest = (bytes: Uint8Array | string): string =>
  createHash('sha256').update(bytes).digest('hex');

/** What a failure says when it is asked to be tried again; rethrows anything else. */
export function laterTry(error: unknown): LaterTry {
  if (!(error instanceof ApplicationFailure) || error.type !== 'MediaRetryLater' || error.nonRetryable)
    throw error;
  const [detail] = error.details as [{ class: string; httpStatus: number | null }];
  const delay = (error as { nextRetryDelay?: unknown }).nextRetryDelay;
  return {
    class: detail.class,
    delayMs: delay === undefined || delay === null ? undefined : Number(delay),
    httpStatus: detail.httpStatus,
  };
}

/** Starts a sandbox process and a worker's insides for it. `close` ends both. */
export async function openBench(options: BenchOptions = {}): Promise<ContractBench> {
  const root = await mkdtemp(join(tmpdir(), 'contract-'));
  const inputs = join(root, 'inputs');
  await mkdir(inputs);
  const sandbox = await startTestSandbox({ timing: { queuedMs: 0, runningMs: 0 }, ...options.sandbox });
  const baseUrl = options.baseUrl?.(sandbox.url) ?? sandbox.url;
  const real = createMediaClient({
    baseUrl,
    apiKey: options.apiKey ?? (() => KEY),
    allowedMediaOrigins: [sandbox.mediaUrl],
    connectionFactory: environmentConnections({}),
  });
  const client = options.client?.(real) ?? real;
  const account = accountName('default', normaliseBaseUrl(baseUrl));
  const hasKey = () => Promise.resolve((options.apiKey?.() ?? KEY) !== '');
  const accounts = accountRegistry([{ name: account, client, hasKey }]);
  const store = new FileArtifactStore(join(root, 'artifacts'));
  await store.checkWritable();
  const location = await modelsAt(options.models, sandbox, root);
  /** A worker's process: what it remembers of refusals goes with it. */
  const startProcess = (): MediaActivities => ({
    ...createMediaActivities({
      accounts,
      artifacts: store,
      journal: createFileJournal({ root: join(root, 'journal') }),
      standing: alwaysBound,
      models: createModelSource(location === undefined ? {} : { location }),
      policy: options.policy,
      inputRoots: [inputs],
    }),
    'media.downloadVideo': createDownloadVideo({
      accounts: (name) => accounts.find(name)?.client,
      artifacts: store,
      ...(options.bounds === undefined ? {} : { bounds: options.bounds }),
    }),
  });
  let activities = startProcess();
  const diagnostics: string[] = [];
  let count = 0;
  const heartbeats = { last: undefined as unknown };

  const bench: ContractBench = {
    sandbox,
    admin: sandbox.admin,
    get activities() {
      return activities;
    },
    client,
    account,
    store,
    root,
    diagnostics,
    async run(name, input, info = {}) {
      const environment = new MockActivityEnvironment(
        {
          activityId: `activity-${++count}`,
          startToCloseTimeoutMs: 600_000,
          scheduleToCloseTimeoutMs: 0,
          heartbeatTimeoutMs: 10_000,
          ...firstAttempt(),
          ...info,
        },
        { logger: capturing(diagnostics) },
      );
      environment.on('heartbeat', (details: unknown) => {
        heartbeats.last = structuredClone(details);
        diagnostics.push(`heartbeat ${JSON.stringify(details) ?? ''}`);
      });
      try {
        const activity = activities[name] as (given: unknown) => Promise<unknown>;
        const result: unknown = await environment.run(activity, input);
        return result as never;
      } catch (error) {
        diagnostics.push(`failure ${everythingOf(error)}`);
        throw error;
      }
    },
    create(request, input = {}, info = {}) {
      const whole = { model: 'cine-1', prompt: 'a lighthouse at dusk', ...request };
      const creationKey = `create-${++count}`;
      return bench.run('media.createVideo', { creationKey, ...input, request: whole }, info);
    },
    async created(request = {}) {
      const answer = await bench.create(request);
      if (answer.outcome !== 'created') throw new Error(`not created: ${JSON.stringify(answer)}`);
      return answer;
    },
    generate(request, input = {}, info = {}) {
      const whole = { model: 'image-2', prompt: 'a boat in the fog', ...request };
      const creationKey = `generate-${++count}`;
      return bench.run('media.generateImage', { creationKey, ...input, request: whole }, info);
    },
    edit(request, input = {}) {
      const whole = { model: 'image-2', prompt: 'the same at night', images: [], ...request };
      return bench.run('media.editImage', { creationKey: `edit-${++count}`, ...input, request: whole });
    },
    async poll({ taskId, model }, seen = '') {
      const result = await bench.run('media.pollVideos', {
        account,
        budgetMs: 5_000,
        minIntervalMs: 0,
        byModel: [{ model, ids: [taskId], seen: [seen] }],
      });
      return result.answers[0];
    },
    async download(video, input = {}) {
      const tries: LaterTry[] = [];
      const scheduledTimestampMs = Date.now();
      const activityId = `download-${++count}`;
      let currentAttemptScheduledTimestampMs = scheduledTimestampMs;
      heartbeats.last = undefined;
      for (let attempt = 1; attempt <= 400; attempt++) {
        try {
          const times = { scheduledTimestampMs, currentAttemptScheduledTimestampMs };
          const info = { activityId, attempt, ...times, heartbeatDetails: heartbeats.last };
          const result = await bench.run('media.downloadVideo', { video, ...input }, info);
          return { result, tries };
        } catch (error) {
          const later = laterTry(error);
          tries.push(later);
          currentAttemptScheduledTimestampMs += later.delayMs ?? 0;
        }
      }
      throw new Error('The download never came to an end.');
    },
    async seen(operation) {
      const requests = await sandbox.admin.requests(operation === undefined ? {} : { operation });
      return requests.filter((request) => request.operation !== 'models');
    },
    fault: (operation, action, rest = {}) => sandbox.admin.addFaults([{ operation, action, ...rest }]),
    async input(name, bytes) {
      await writeFile(join(inputs, name), bytes);
      return join(inputs, name);
    },
    restart() {
      activities = startProcess();
    },
    async reset() {
      bench.restart();
      const broken = (await bench.seen()).flatMap(({ violations }) => violations);
      await sandbox.admin.reset();
      if (broken.length > 0)
        throw new Error(`The sandbox saw breaches of the contract: ${broken.join('; ')}`);
    },
    async close() {
      await real.close();
      await sandbox.close();
      await rm(root, { recursive: true, force: true });
    },
  };
  return bench;
}

async function modelsAt(
  models: BenchOptions['models'],
  sandbox: TestSandbox,
  root: string,
): Promise<string | undefined> {
  if (models === 'none') return undefined;
  if (models === undefined) return sandbox.modelsUrl;
  const file = join(root, 'models.json');
  await writeFile(file, JSON.stringify({ version: 1, models }));
  return file;
}
