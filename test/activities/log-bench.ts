import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Info } from '@temporalio/activity';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createCreateVideo } from '../../src/activities/create-video';
import { type PaidDeps } from '../../src/activities/paid-context';
import { createReconcileCreate } from '../../src/activities/reconcile-create';
import { type CreateJournal } from '../../src/domain/journal';
import { type JournalKey, type LogEntry } from '../../src/domain/log-entries';
import {
  type CreateVideoAnswer,
  type CreateVideoInput,
  type ReconcileCreateInput,
} from '../../src/domain/paid-call';
import { type KeyState, stateOf } from '../../src/domain/paid-log';
import { createMediaClient } from '../../src/service/create-media-client';
import { type MediaClient } from '../../src/service/media-client';
import { createFileJournal } from '../../src/stores/journal/file-journal';
import { json, loopback, type Loopback } from '../service/loopback-service';
import { firstAttempt } from '../support/first-attempt';
import { LOG_KEY } from '../support/log-entries';
import { NOTHING_ANNOUNCED } from '../support/queue-binding';
import { paidDeps } from './paid-deps';

export const REQUEST = { model: 'm', prompt: 'one log for one key' };

/** An answer of the service to a create. */
export interface Reply {
  readonly status: number;
  readonly body?: object;
  readonly headers?: Record<string, string>;
}

/** The real activities over a real file journal and a real client, against a service that answers as it is told. */
export interface LogBench {
  readonly folder: string;
  readonly journal: CreateJournal;
  readonly client: MediaClient;
  readonly service: Loopback;
  /** What the next creates are answered, in order; the last one stays. Tasks have the ids `video_1`, `video_2`, … */
  replies: Reply[];
  /** Called when a create has arrived, before it is answered. */
  onCreate: () => Promise<void>;
  deps(changes?: Partial<PaidDeps>): PaidDeps;
  environment(info?: Partial<Info>): MockActivityEnvironment;
  create(
    input?: Partial<CreateVideoInput>,
    info?: Partial<Info>,
    changes?: Partial<PaidDeps>,
  ): Promise<CreateVideoAnswer>;
  reconcile(
    input?: Partial<ReconcileCreateInput>,
    info?: Partial<Info>,
    changes?: Partial<PaidDeps>,
  ): Promise<CreateVideoAnswer>;
  /** Writes entries at the end of the log. */
  write(...entries: readonly LogEntry[]): Promise<void>;
  log(key?: JournalKey): Promise<readonly LogEntry[]>;
  kinds(): Promise<readonly string[]>;
  state(): Promise<KeyState>;
  /** Creates that the service received. */
  posts(): number;
  close(): Promise<void>;
}

const CREATED = 200;

export async function openLogBench(): Promise<LogBench> {
  const folder = await mkdtemp(join(tmpdir(), 'temporal-media-log-'));
  const journal = createFileJournal({ root: join(folder, 'journal') });
  let tasks = 0;
  const service = await loopback((request, response) => {
    if (request.method !== 'POST') return json(response, 200, { id: 'video_1', status: 'queued' });
    void bench.onCreate().then(() => {
      const [reply = { status: CREATED }, ...rest] = bench.replies;
      if (rest.length > 0) bench.replies = rest;
      const body =
        reply.body ?? (reply.status === CREATED ? { id: `video_${++tasks}`, status: 'queued' } : {});
      json(response, reply.status, body, reply.headers);
    });
  });
  const client = createMediaClient({ baseUrl: service.origin, apiKey: () => 'key' });
  const bench: LogBench = {
    folder,
    journal,
    client,
    service,
    replies: [],
    onCreate: async () => undefined,
    deps: (changes = {}) => ({ ...paidDeps(folder, journal, client), ...changes }),
    environment: (info = {}) =>
      new MockActivityEnvironment({
        workflowExecution: { workflowId: 'wf', runId: 'run' },
        workflowNamespace: LOG_KEY.namespace,
        startToCloseTimeoutMs: 70_000,
        ...firstAttempt(),
        ...info,
      }),
    create: (input = {}, info = {}, changes = {}) =>
      bench.environment(info).run(createCreateVideo(bench.deps(changes)), {
        creationKey: LOG_KEY.creationKey,
        request: REQUEST,
        ...input,
      }),
    reconcile: (input = {}, info = {}, changes = {}) =>
      bench.environment(info).run(createReconcileCreate(bench.deps(changes)), {
        creationKey: LOG_KEY.creationKey,
        ...NOTHING_ANNOUNCED,
        ...input,
      }),
    write: async (...entries) => {
      for (const entry of entries) {
        const { length } = await journal.read(LOG_KEY);
        if ((await journal.append(LOG_KEY, length, entry)) !== 'won')
          throw new Error('another entry is there');
      }
    },
    log: (key = LOG_KEY) => journal.read(key),
    kinds: async () => (await bench.log()).map(({ kind }) => kind),
    state: async () => stateOf(await bench.log()),
    posts: () => service.seen.filter(({ method }) => method === 'POST').length,
    close: async () => {
      await client.close();
      await service.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return bench;
}

/** The trace of a sender, as its workflow gives it to the reconciliation. */
export const traceOf = (
  sender: string,
  announced: string | null = null,
  scheduledAt = new Date(1).toISOString(),
) => ({
  trace: { sender, announced, scheduledAt },
});
