import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { encryptedClient, encryptedFilmWorker, encryptedMediaWorker } from '../../examples/encrypted-workers';
import { encrypted, Encryption } from '../../examples/encryption';
import { type RunningTemporalServer, startTemporalServer } from '../../packages/testing/src/temporal-server';
import { TemporalMediaClient } from '../../src/client';
import { SEARCH_ATTRIBUTES } from '../../src/domain/names';
import { startCodecServer } from '../cli/support/codec-server';
import { type CliReply, runJson } from '../cli/support/run-cli';
import { makePng } from '../stores/artifacts/make-media';
import { storedManifest } from '../support/campaign';
import { canary, CanarySearch, type Hit, type Searched, searched } from '../support/canary';
import { newKey } from '../support/encryption';
import { eventually } from '../support/eventually';
import { type MediaStack, startMediaStack } from '../support/media-stack';
import { testBundle } from '../support/test-bundle';

const AUTH = 'Bearer of-the-codec-server';
const PROMPT = canary('prompt', 'Pm5Kd2w', (core) => `${core} glides past the old brass lantern at dawn`);
const NEGATIVE = canary('negative prompt', 'Ng8Qx1t');
const REFERENCE = canary('reference', 'Rf4Lb7s');
const FILE = canary('file name', 'Fl6Vz3h');
const MISSING = canary('name of a missing file', 'Ms2Jy9c');
const ROW = canary('row id', 'Rw7Tg5p');
const NOTE = canary('memo', 'Mm3Wn6k');
const SUMMARY = canary('summary', 'Sm9Xr4v');
const DETAILS = canary('details', 'Dt1Hf8z');
const HIDDEN = [PROMPT, NEGATIVE, REFERENCE, FILE, MISSING, ROW, NOTE, SUMMARY, DETAILS];
/** Sent by a client without the codec: it proves what the search finds. */
const OPEN = canary('prompt without the codec', 'Op2Bs6m');

const first = newKey('first');
const second = newKey('second');

describe('the encryption of the examples', () => {
  let server: RunningTemporalServer;
  let stack: MediaStack;
  let dir: string;
  let env: Record<string, string>;
  /** Ends the worker that runs. */
  let stopWorker: () => Promise<void>;
  let before: Record<'video' | 'image' | 'edit' | 'unread' | 'lost' | 'campaign' | 'open', string>;

  const clientWith = (make: typeof encryptedClient): TemporalMediaClient =>
    new TemporalMediaClient(
      make({ connection: stack.server.client.connection, namespace: stack.server.namespace }),
      { taskQueue: stack.taskQueue, searchAttributes: true },
    );

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'temporal-media-encryption-'));
    server = await startTemporalServer({
      // A server that the environment names has its database elsewhere.
      env: { ...process.env, TEMPORAL_ADDRESS: undefined, TEMPORAL_PROFILE: undefined },
      dataDir: join(dir, 'server'),
      searchAttributes: Object.fromEntries(SEARCH_ATTRIBUTES.map((name) => [name, 'Keyword'] as const)),
    });
    stack = await startMediaStack({
      temporal: server,
      sandbox: { timing: { queuedMs: 0, runningMs: 300 } },
    });
    env = { ...stack.env, MEDIA_INPUT_ROOTS: join(dir, 'pictures') };
    await mkdir(join(dir, 'pictures'));
    await writeFile(join(dir, 'pictures', `${FILE.value}.png`), makePng(23, 17));
    process.env['FILM_PAYLOAD_KEYS'] = first;
    await startMediaWorker();
    before = await buyEverything();
  });
  afterAll(async () => {
    delete process.env['FILM_PAYLOAD_KEYS'];
    await stopWorker();
    await stack.stop();
    await server.stop();
    await rm(dir, { recursive: true, force: true });
  });

  async function startMediaWorker(): Promise<void> {
    const { nativeConnection: connection, namespace } = stack.server;
    const media = await encryptedMediaWorker({
      ...{ env, connection, namespace, workflows: { workflowBundle: await testBundle() } },
      worker: { shutdownGraceTime: '2 seconds' },
    });
    const ended = media.run();
    stopWorker = async () => {
      media.shutdown();
      await ended;
    };
  }

  async function startPluginWorker(): Promise<void> {
    const { nativeConnection: connection, namespace } = stack.server;
    const own = {
      connection,
      namespace,
      taskQueue: stack.taskQueue,
      shutdownGraceTime: '2 seconds',
    } as const;
    const worker = await encryptedFilmWorker({ ...own, workflowBundle: await testBundle() }, env);
    const ended = worker.run();
    stopWorker = async () => {
      worker.shutdown();
      await ended;
    };
  }

  async function buyEverything(): Promise<typeof before> {
    const media = clientWith(encryptedClient);
    const bare = clientWith((options) => new Client(options));
    const failing = `${PROMPT.value} that is refused`;
    await stack.sandbox.admin.addFaults([
      // The service repeats what it was asked for.
      {
        ...{ operation: 'poll', promptIncludes: failing },
        action: { type: 'task_fails', error: { code: 'moderation_blocked', message: `Refused: ${failing}` } },
      },
    ]);
    const rows = [
      { id: ROW.value, model: 'sketch-lite', prompt: failing },
      { id: 'plain', model: 'sketch-lite', prompt: PROMPT.value },
    ];
    const manifest = await storedManifest(stack, rows);
    const source = { url: `https://media.example.com/${REFERENCE.value}/first.png` };
    const edit = (name: string) => ({
      model: 'image-2',
      prompt: PROMPT.value,
      images: [{ file: join(dir, 'pictures', `${name}.png`) }],
    });
    const started = await Promise.all([
      media.startVideo(
        {
          request: { model: 'cine-1', ...film, references: [{ kind: 'image', source }] },
        },
        {
          id: stack.server.uniqueId('film'),
          ...{ memo: { note: NOTE.value }, staticSummary: SUMMARY.value, staticDetails: DETAILS.value },
        },
      ),
      media.images.start({ request: { model: 'image-2', prompt: PROMPT.value } }, { as: 'workflow' }),
      media.images.start({ request: edit(FILE.value) }, { as: 'workflow' }),
      media.images.start({ request: edit(MISSING.value) }, { as: 'workflow' }),
      media.startVideo({
        request: {
          ...{ model: 'atlas-long', prompt: `[lost-reply] ${PROMPT.value}`, durationSeconds: 6 },
          fields: { negative_prompt: NEGATIVE.value },
        },
      }),
      media.campaigns.start({ manifest }, { id: stack.server.uniqueId('rows') }),
      bare.startVideo({ request: { model: 'cine-1', prompt: OPEN.value, durationSeconds: 2 } }),
    ]);
    const ended = await Promise.all(started.slice(0, -1).map((one) => one.result()));
    await stack.server.client.workflow
      .getHandle(started[6].workflowId)
      .result()
      .catch(() => undefined);
    expect(ended).toMatchObject([
      { outcome: 'completed' },
      { outcome: 'completed' },
      { outcome: 'completed' },
      { outcome: 'rejected' },
      { outcome: 'unconfirmed' },
      { outcome: 'completed', counts: { completed: 1, failed: 1 } },
    ]);
    const [video, image, edited, unread, lost, campaign, open] = started.map(({ workflowId }) => workflowId);
    return { video, image, edit: edited, unread, lost, campaign, open } as typeof before;
  }

  const film = { prompt: PROMPT.value, durationSeconds: 2 };

  /** Every execution, once those of this test are listed. */
  async function executions(): Promise<readonly { readonly workflowId: string; readonly runId: string }[]> {
    const { workflowService } = stack.server.client;
    return eventually('every workflow listed', async () => {
      // Not by the client, which reads memos.
      const { namespace } = stack.server;
      const { executions: listed } = await workflowService.listWorkflowExecutions({ namespace });
      const all = listed.map(({ execution }) => ({
        workflowId: execution?.workflowId ?? '',
        runId: execution?.runId ?? '',
      }));
      const ids = new Set(all.map(({ workflowId }) => workflowId));
      return Object.values(before).every((id) => ids.has(id)) ? all : undefined;
    });
  }

  /** Everything that the server tells whoever has no key: histories and descriptions, in the JSON of protobuf. */
  async function exported(): Promise<Searched[]> {
    const { History } = temporal.api.history.v1;
    const { DescribeWorkflowExecutionResponse } = temporal.api.workflowservice.v1;
    const texts = (await executions()).map(async ({ workflowId, runId }) => {
      const handle = stack.server.client.workflow.getHandle(workflowId, runId);
      const history = History.create(await handle.fetchHistory());
      const described = await stack.server.client.workflowService.describeWorkflowExecution({
        namespace: stack.server.namespace,
        execution: { workflowId, runId },
      });
      const description = DescribeWorkflowExecutionResponse.create(described);
      return [
        searched(`history of ${workflowId}`, JSON.stringify(History.toObject(history, { bytes: String }))),
        searched(
          `description of ${workflowId}`,
          JSON.stringify(DescribeWorkflowExecutionResponse.toObject(description, { bytes: String })),
        ),
      ];
    });
    return (await Promise.all(texts)).flat();
  }

  const database = (): Promise<Searched[]> =>
    Promise.all(
      ['temporal.db', 'temporal.db-wal'].map(async (name) =>
        searched(name, await readFile(join(dir, 'server', name))),
      ),
    );

  const findIn = (texts: readonly Searched[], canaries = HIDDEN): (Hit & { readonly where: string })[] => {
    const search = new CanarySearch(canaries);
    return texts.flatMap(({ where, bytes }) => search.hits(bytes).map((hit) => ({ where, ...hit })));
  };

  /** Ids of the keys that the payloads of a history name. */
  async function keysOf(workflowId: string): Promise<string[]> {
    const history = await stack.server.client.workflow.getHandle(workflowId).fetchHistory();
    const json = JSON.stringify(
      temporal.api.history.v1.History.toObject(history as never, { bytes: String }),
    );
    const ids = [...json.matchAll(/"encryption-key-id":"([^"]*)"/g)];
    return [...new Set(ids.map(([, id = '']) => Buffer.from(id, 'base64').toString()))];
  }

  it("leaves no prompt, name, memo or error text in the server's database or in what it exports", async () => {
    expect(findIn(await database())).toEqual([]);
    expect(findIn(await exported())).toEqual([]);
  });

  it('would be found: a prompt that was sent without it, and what stays readable', async () => {
    const [files, texts] = [await database(), await exported()];
    expect(new Set(findIn(files, [OPEN]).map(({ encoding }) => encoding))).toEqual(new Set(['raw']));
    const histories = new Set(findIn(texts, [OPEN]).map(({ where }) => where));
    expect(histories).toContain(`history of ${before.open}`);
    // Ids, types, queues and search attributes are for the server.
    const bytes = Buffer.concat(files.map((file) => file.bytes)).toString('latin1');
    for (const readable of [...Object.values(before), 'media.createVideo', 'atlas-long', stack.taskQueue])
      expect({ readable, found: bytes.includes(readable) }).toEqual({ readable, found: true });
  });

  const status = async (keys: string): Promise<CliReply> => {
    const codec = await startCodecServer(new Encryption(keys), stack.server.namespace, AUTH);
    try {
      const { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, MEDIA_TASK_QUEUE, MEDIA_DATA_DIR } = stack.env;
      const named = { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, MEDIA_TASK_QUEUE, MEDIA_DATA_DIR };
      const endpoint = `${codec.origin}/{namespace}`;
      const how = { ...named, TEMPORAL_CODEC_ENDPOINT: endpoint, TEMPORAL_CODEC_AUTH: AUTH };
      return (await runJson(['status', before.video], how)).reply;
    } finally {
      await codec.close();
    }
  };

  it('status shows the outcome by the codec server, and what is wrong with a key', async () => {
    expect((await status(first)).data).toMatchObject({ outcome: { outcome: 'completed' }, notes: [] });
    const missing = await status(second);
    expect(missing.error?.type).toBe('codec_unreachable');
    expect(missing.error?.message).toContain('HTTP 400: This process does not have the payload key "first"');
    const wrong = await status(newKey('first'));
    expect(wrong.error?.message).toContain('Cannot decrypt with the payload key "first"');
  });

  it('rotates: the newest key encrypts, and what an older one encrypted stays readable', async () => {
    expect(await keysOf(before.video)).toEqual(['first']);
    await stopWorker();
    process.env['FILM_PAYLOAD_KEYS'] = `${second},${first}`;
    await startPluginWorker();
    const media = clientWith(encryptedClient);
    // The worker replays the old history, and its answer comes back.
    expect(await media.videoState(before.video)).toMatchObject({ phase: 'done' });
    const started = await media.startVideo({ request: { model: 'cine-1', ...film } });
    expect(await started.result()).toMatchObject({ outcome: 'completed' });
    expect(await keysOf(started.workflowId)).toEqual(['second']);
    expect((await status(`${second},${first}`)).data).toMatchObject({ outcome: { outcome: 'completed' } });
    const [codec] = encrypted(second).payloadCodecs;
    const [old] = await new Encryption(first).encode([{ data: Buffer.from('x') }]);
    await expect(codec!.decode([old!])).rejects.toThrow(
      'This process does not have the payload key "first".',
    );
  });
});
