import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { ExternalStorage } from '@temporalio/common';
import { createPayloadDriver } from '../../packages/store-s3/src/payload-driver';
import { type S3Server, startS3 } from '../../scripts/stores/s3';
import { TemporalMediaClient } from '../../src/client';
import { type CliProcess, runCli, runJson, startCli } from '../cli/support/run-cli';
import { accepted, received } from '../support/accepted';
import { eventually } from '../support/eventually';
import { type MediaStack, startMediaStack } from '../support/media-stack';
import { ownNamespace } from '../support/temporal';
import { type FaultProxy, startFaultProxy } from './support/fault-proxy';
import { clientOf, describeWithS3, newBucket } from './support/s3';

const MAX_WAIT_MS = 600_000;

/** Whatever the bucket of all payloads does, nothing is bought twice, and what was bought is delivered. */
describeWithS3()('a bucket of payloads that is slow or cut', () => {
  let server: S3Server;
  let proxy: FaultProxy;
  let stack: MediaStack;
  /** The worker is behind the proxy; `env` is for commands beside it. */
  let env: NodeJS.ProcessEnv;
  let behind: NodeJS.ProcessEnv;
  let running: CliProcess;

  beforeAll(async () => {
    server = await startS3();
    proxy = await startFaultProxy(server.endpoint);
    stack = await startMediaStack({
      temporal: await ownNamespace(),
      sandbox: { timing: { queuedMs: 0, runningMs: 300 } },
    });
    env = {
      ...stack.env,
      ...server.env,
      MEDIA_EXTERNAL_STORAGE: `s3://${await newBucket(server)}`,
      MEDIA_EXTERNAL_STORAGE_THRESHOLD: '0',
    };
    behind = { ...env, AWS_ENDPOINT_URL_S3: proxy.endpoint };
    running = await startWorker();
  }, MAX_WAIT_MS);
  afterAll(async () => {
    await stop();
    await stack?.stop();
    await proxy?.close();
    await server?.stop();
  });
  afterEach(() => {
    proxy.rule = () => null;
    proxy.before = async () => undefined;
  });

  async function startWorker(): Promise<CliProcess> {
    const started = startCli(['worker'], behind);
    await started.untilLine('stderr', /^Ready: task queue/);
    return started;
  }
  async function stop(): Promise<void> {
    running?.child.kill('SIGTERM');
    await running?.ended;
  }

  const inDir = (...names: readonly string[]) => join(stack.dataDir, ...names);
  const paid = (command: 'video' | 'image', id: string, ...more: readonly string[]) => [
    ...[command, '--model', command === 'video' ? 'sketch-lite' : 'image-2', '--prompt', id],
    ...['--id', id, '--out', inDir('out'), '--yes', ...more],
  ];
  /** Of videos whose prompts are their ids. */
  async function campaign(id: string, rows: readonly string[]): Promise<readonly string[]> {
    const manifest = inDir(`${id}.jsonl`);
    const lines = rows.map((row) =>
      JSON.stringify({ id: row, model: 'sketch-lite', prompt: `${id} ${row}` }),
    );
    await writeFile(manifest, lines.join('\n'));
    return ['campaign', 'run', manifest, '--id', id, '--out', inDir(id), '--yes'];
  }
  const slow = (delayMs: number) => {
    proxy.before = () => delay(delayMs);
  };

  it(
    'every request takes more than a second, and some hang and are cut: each call is bought once, and each command ends',
    async () => {
      const ids = ['film', 'picture', 'alone', 'rows'].map((name) => stack.server.uniqueId(name));
      const [film = '', picture = '', alone = '', rows = ''] = ids;
      let turn = 0;
      proxy.before = async () => {
        turn += 1;
        const hangs = turn % 40 === 0;
        await delay(hangs ? 15_000 : 1_200);
        if (hangs) throw new Error('cut');
      };
      const ends = await Promise.all(
        [
          paid('video', film),
          paid('image', picture, '--as', 'workflow'),
          paid('image', alone),
          await campaign(rows, ['a', 'b', 'c']),
        ].map((command) => runJson(command, behind)),
      );
      expect(ends.map(({ code, reply }) => [code, reply.data?.['outcome'], reply.error?.message])).toEqual(
        ends.map(() => [0, 'completed', undefined]),
      );
      for (const prompt of [film, picture, alone, `${rows} a`, `${rows} b`, `${rows} c`])
        expect([prompt, await accepted(stack, prompt)]).toEqual([prompt, 1]);
      for (const command of [
        ['status', film],
        ['status', alone],
        ['watch', film],
        ['watch', picture],
        ['campaign', 'status', rows],
        ['replay', film],
        ['replay', rows, '--children'],
      ]) {
        const { code, stderr } = await runCli(command, behind);
        expect([command.join(' '), code, stderr.match(/error:.*/)?.[0]]).toEqual([
          command.join(' '),
          0,
          undefined,
        ]);
      }
      expect(turn).toBeGreaterThan(80);
    },
    MAX_WAIT_MS,
  );

  it(
    'a workflow task that needs more time than it has is finished by a later attempt',
    async () => {
      const id = stack.server.uniqueId('replayed');
      const { client: plain, namespace } = stack.server;
      const driver = createPayloadDriver(env['MEDIA_EXTERNAL_STORAGE'] ?? '', clientOf(server));
      const externalStorage = new ExternalStorage({ drivers: [driver], payloadSizeThreshold: 0 });
      const { connection } = plain;
      const client = new Client({ connection, namespace, dataConverter: { externalStorage } });
      const media = new TemporalMediaClient(client, { taskQueue: stack.taskQueue });
      const request = { model: 'sketch-lite', prompt: `[run:30s] ${id}` };
      const started = await media.startVideo({ request, polling: 'own' }, { id });
      await eventually(
        'polls',
        async () => ((await media.videoState(id).catch(() => undefined))?.polls ?? 0) >= 4,
        MAX_WAIT_MS,
      );
      await stop();
      // A new process remembers nothing, and the requests one after another take longer than the ten seconds of a task.
      slow(1_500);
      running = await startWorker();
      expect(await started.result()).toMatchObject({ outcome: 'completed' });
      expect(await accepted(stack, request.prompt)).toBe(1);
      const { events } = await client.workflow.getHandle(id).fetchHistory();
      expect(events?.some(({ workflowTaskTimedOutEventAttributes: late }) => late != null)).toBe(true);
    },
    MAX_WAIT_MS,
  );

  it(
    'a bucket that is away while calls heartbeat stops no worker, and each is bought once',
    async () => {
      const ids = ['long-film', 'long-picture'].map((name) => stack.server.uniqueId(name));
      const [film = '', picture = ''] = ids;
      await stack.sandbox.admin.addFaults([
        { operation: 'create', promptIncludes: film, action: { type: 'delay', ms: 25_000 } },
        { operation: 'generate', promptIncludes: picture, action: { type: 'delay', ms: 25_000 } },
      ]);
      const calls = [paid('video', film), paid('image', picture)].map((command) => runJson(command, env));
      for (const id of ids) await eventually('the request', async () => (await received(stack, id)) > 0);
      proxy.rule = () => ({ when: 'before', what: 'cut' });
      for (const id of ids)
        await eventually('the purchase', async () => (await accepted(stack, id)) > 0, MAX_WAIT_MS);
      proxy.rule = () => null;
      for (const { code, reply } of await Promise.all(calls))
        expect([code, reply.data?.['outcome']]).toEqual([0, 'completed']);
      for (const id of ids) expect(await accepted(stack, id)).toBe(1);
      expect([running.child.exitCode, running.child.signalCode]).toEqual([null, null]);
    },
    MAX_WAIT_MS,
  );

  it(
    'a bucket that is away between the purchase and the upload of its answer: the answer is found, and the call completes',
    async () => {
      const ids = ['film', 'picture', 'alone', 'rows'].map((name) => stack.server.uniqueId(`paid-${name}`));
      const [film = '', picture = '', alone = '', rows = ''] = ids;
      const prompts = [film, picture, alone, `${rows} a`, `${rows} b`];
      const cut = new Map<string, number>();
      let isAway = true;
      // The payloads of a call have its id in their keys.
      proxy.before = async ({ url }) => {
        const id = ids.find((one) => url.includes(one));
        if (!isAway || id === undefined) return;
        const own = prompts.filter((prompt) => prompt.startsWith(id));
        const counts = await Promise.all(own.map((prompt) => accepted(stack, prompt)));
        if (counts.every((count) => count === 0)) return;
        cut.set(id, (cut.get(id) ?? 0) + 1);
        throw new Error('cut');
      };
      const commands = [
        paid('video', film),
        paid('image', picture, '--as', 'workflow'),
        paid('image', alone),
        await campaign(rows, ['a', 'b']),
      ];
      const ends = Promise.all(commands.map((command) => runJson(command, env)));
      const { client, namespace } = stack.server;
      await eventually(
        'more attempts than the service may refuse',
        async () => {
          const { pendingActivities } = await client.workflowService
            .describeWorkflowExecution({ namespace, execution: { workflowId: picture } })
            .catch(() => ({ pendingActivities: [] }));
          return (pendingActivities?.[0]?.attempt ?? 0) > 6;
        },
        MAX_WAIT_MS,
      );
      expect([...cut.keys()].sort()).toEqual([...ids].sort());
      isAway = false;
      for (const { code, reply } of await ends)
        expect([code, reply.data?.['outcome'], reply.error?.message]).toEqual([0, 'completed', undefined]);
      for (const prompt of prompts) expect([prompt, await accepted(stack, prompt)]).toEqual([prompt, 1]);
    },
    MAX_WAIT_MS,
  );
});
