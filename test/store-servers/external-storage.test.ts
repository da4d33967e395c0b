import { type ChildProcess } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Payload } from '@temporalio/common';
import { payloadsIn } from '../../packages/replay/src/decode-payloads';
import { type S3Server, startS3 } from '../../scripts/stores/s3';
import { isStoredElsewhere } from '../../src/client/read-payloads';
import { describeStandalone } from '../../src/client/workflow-service';
import { runCli, runJson, startCli, type CliProcess } from '../cli/support/run-cli';
import { accepted } from '../support/accepted';
import { type MediaStack, startMediaStack } from '../support/media-stack';
import { ownNamespace } from '../support/temporal';
import { type FaultProxy, startFaultProxy } from './support/fault-proxy';
import { describeWithS3, newBucket } from './support/s3';

const VARIABLES = /MEDIA_EXTERNAL_STORAGE.*MEDIA_DATA_CONVERTER/;

describeWithS3()('payloads in a bucket, every one of them', () => {
  let server: S3Server;
  let proxy: FaultProxy;
  let stack: MediaStack;
  let bucket: string;
  /** With the storage, and without it. */
  let env: NodeJS.ProcessEnv;
  let bare: NodeJS.ProcessEnv;
  let ids: Readonly<Record<'video' | 'image' | 'alone' | 'campaign', string>>;
  let taskId: string;
  let manifest: string;
  const children: CliProcess[] = [];
  const stop = async ({ child, ended }: { child: ChildProcess; ended: Promise<unknown> }) => {
    child.kill('SIGTERM');
    await ended;
  };
  const worker = async (of: NodeJS.ProcessEnv, ...more: readonly string[]): Promise<CliProcess> => {
    const started = startCli(['worker', ...more], of);
    children.push(started);
    await started.untilLine('stderr', /^Ready: task queue/);
    return started;
  };
  const inDir = (...names: readonly string[]) => path.join(stack.dataDir, ...names);
  const buy = {
    video: (id: string, prompt: string) => [
      ...['video', '--model', 'sketch-lite', '--prompt', prompt, '--id', id, '--out', inDir('out')],
    ],
    image: (id: string, prompt: string) => [
      ...['image', '--model', 'image-2', '--prompt', prompt, '--id', id, '--out', inDir('out')],
    ],
    campaign: (id: string) => ['campaign', 'run', manifest, '--id', id, '--out', inDir('report'), '--yes'],
  };

  beforeAll(async () => {
    server = await startS3();
    proxy = await startFaultProxy(server.endpoint);
    // Commands of other tests list what is in their namespace, and have no storage.
    stack = await startMediaStack({
      temporal: await ownNamespace(),
      sandbox: { timing: { queuedMs: 0, runningMs: 300 } },
    });
    bucket = await newBucket(server);
    bare = { ...stack.env, ...server.env };
    env = {
      ...bare,
      MEDIA_EXTERNAL_STORAGE: `s3://${bucket}`,
      MEDIA_EXTERNAL_STORAGE_THRESHOLD: '0',
    };
    manifest = inDir('rows.jsonl');
    const row = (id: string) => JSON.stringify({ id, model: 'sketch-lite', prompt: 'a distant boat' });
    await writeFile(manifest, `${row('a')}\n${row('b')}\n`);
    const uniqueId = (name: string) => stack.server.uniqueId(name);
    ids = {
      video: uniqueId('film'),
      image: uniqueId('picture'),
      alone: uniqueId('alone'),
      campaign: uniqueId('rows'),
    };
    await worker(env);
  });
  afterAll(async () => {
    await Promise.all(children.map(stop));
    await stack?.stop();
    await proxy?.close();
    await server?.stop();
  });

  it('a video, an image and a campaign: the server has references only', async () => {
    const video = await runJson(buy.video(ids.video, 'a distant kite'), env);
    expect([video.code, video.reply.data?.['outcome']]).toEqual([0, 'completed']);
    taskId = (video.reply.data?.['video'] as { readonly taskId: string }).taskId;
    const images = [
      await runJson([...buy.image(ids.image, 'a distant hill'), '--as', 'workflow'], env),
      await runJson(buy.image(ids.alone, 'a distant lake'), env),
    ];
    for (const image of images) expect([image.code, image.reply.data?.['outcome']]).toEqual([0, 'completed']);
    const campaign = await runJson(buy.campaign(ids.campaign), env);
    expect([campaign.code, campaign.reply.data?.['counts']]).toEqual([0, { completed: 2 }]);
    // An activity without a workflow has no history.
    const { client, namespace } = stack.server;
    const picture = await describeStandalone(client, namespace, { activityId: ids.alone, runId: '' });
    const stored = [...(picture?.input?.payloads ?? []), ...(picture?.outcome?.result?.payloads ?? [])];
    expect(stored.map(isStoredElsewhere)).toEqual([true, true]);
    for (const id of [ids.video, ids.image, ids.campaign]) {
      const history = await client.workflow.getHandle(id).fetchHistory();
      const payloads = payloadsIn(history);
      expect(payloads.length).toBeGreaterThan(3);
      expect(payloads.filter((payload) => !isStoredElsewhere(payload))).toEqual([]);
    }
  });

  const reading = (): readonly (readonly string[])[] => [
    ['watch', ids.video],
    ['resume', ids.video, '--out', inDir('out')],
    ['watch', ids.alone],
    ['resume', ids.alone, '--out', inDir('out')],
    ['campaign', 'status', ids.campaign],
    ['campaign', 'watch', ids.campaign],
    ['campaign', 'report', ids.campaign, '--out', inDir('report-2')],
    ['unconfirmed', 'list'],
    ['orphans'],
    ['replay', ids.video],
    ['replay', ids.campaign, '--children'],
    ['history', 'export', ids.image, inDir('image.json'), '--redact'],
  ];

  it('every command reads them with the storage', async () => {
    for (const command of [...reading(), ['campaign', 'list']]) {
      const { code, stderr } = await runCli(command, env);
      expect([command.join(' '), code, stderr.match(/error:.*/)?.[0]]).toEqual([
        command.join(' '),
        0,
        undefined,
      ]);
    }
    for (const id of [ids.video, taskId]) {
      const { reply } = await runJson(['status', id], { ...env, MEDIA_DATA_DIR: inDir('elsewhere') });
      expect(reply.data).toMatchObject({ outcome: { outcome: 'completed' }, video: { taskId }, notes: [] });
    }
    const replayed = await runCli(['replay', ids.video], env);
    expect(replayed.stdout).toContain(taskId);
    expect(replayed.stdout).toContain('identical');
    expect((await runJson(['status', 'task_unknown'], env)).reply.error?.type).toBe('not_found');
  });

  it('without it, each says why, and which variable to set', async () => {
    for (const command of [...reading(), ['status', 'task_unknown']]) {
      const { code, reply } = await runJson(command, bare);
      const said = `${reply.error?.message} ${reply.error?.hint}`;
      expect([command.join(' '), code, reply.error?.type]).toEqual([
        command.join(' '),
        69,
        'payload_unreadable',
      ]);
      expect(said).toMatch(VARIABLES);
    }
    const status = await runJson(['status', ids.video], bare);
    expect(status.reply.data).toMatchObject({
      workflow: { status: 'COMPLETED' },
      outcome: null,
      notes: expect.arrayContaining([expect.stringMatching(VARIABLES)]) as unknown,
    });
    const alone = await runJson(['status', ids.alone], bare);
    expect(alone.reply.data).toMatchObject({
      activity: { status: 'COMPLETED' },
      outcome: null,
      notes: expect.arrayContaining([expect.stringMatching(VARIABLES)]) as unknown,
    });
    const list = await runJson(['campaign', 'list'], bare);
    expect(JSON.stringify(list.reply.data)).toContain(ids.campaign);
    const { stdout } = await runCli(['replay', ids.video], bare);
    expect(stdout).toContain('external storage');
    expect(stdout).not.toMatch(/identical|revert|nothing new|without an answer/i);
  });

  it('without it, nothing is bought, on a queue with results and on a new one', async () => {
    const fresh = { MEDIA_TASK_QUEUE: stack.server.uniqueId('fresh'), MEDIA_JOURNAL: inDir('fresh') };
    await worker({ ...env, ...fresh });
    for (const queue of [{}, fresh]) {
      const id = stack.server.uniqueId('unbought');
      for (const command of [
        buy.video(`${id}-v`, 'an unbought kite'),
        [...buy.video(`${id}-d`, 'an unbought kite'), '--detach'],
        buy.image(`${id}-i`, 'an unbought hill'),
        buy.campaign(`${id}-c`),
      ]) {
        const { code, reply } = await runJson(command, { ...bare, ...queue });
        expect([command[0], code, reply.error?.type]).toEqual([command[0], 69, 'payload_unreadable']);
        expect(reply.error?.hint).toMatch(VARIABLES);
      }
    }
    expect(await accepted(stack, 'an unbought kite')).toBe(0);
    expect(await accepted(stack, 'an unbought hill')).toBe(0);
    expect(await accepted(stack, 'a distant boat')).toBe(2);
  });

  it('a file of references replays where the storage is; an exported file replays anywhere', async () => {
    const [raw, whole] = [inDir('raw.json'), inDir('whole.json')];
    const exported = async (file: string, ...more: readonly string[]) =>
      (await runCli(['history', 'export', ids.video, file, ...more], env)).code;
    expect([await exported(raw, '--keep-encrypted'), await exported(whole)]).toEqual([0, 0]);
    expect(await readFile(raw, 'utf8')).toContain('externalPayloads');
    // Another tool may drop the field that it does not know.
    const older = JSON.parse(await readFile(raw, 'utf8'), (name, value: unknown) =>
      name === 'externalPayloads' ? undefined : value,
    ) as object;
    const dropped = inDir('dropped.json');
    await writeFile(dropped, JSON.stringify(older));
    for (const file of [raw, dropped]) {
      const unread = await runJson(['replay', file], bare);
      expect([unread.code, unread.reply.error?.type]).toEqual([69, 'payload_unreadable']);
      expect(JSON.stringify(unread.reply.data)).not.toContain('verdict"');
    }
    const offline = { TEMPORAL_ADDRESS: '127.0.0.1:9' };
    const cases = [
      [raw, { ...env, ...offline }],
      [dropped, { ...env, ...offline }],
      [whole, { ...bare, ...offline }],
    ] as const;
    for (const [file, how] of cases) {
      const { code, stdout } = await runCli(['replay', file], how);
      expect([file, code]).toEqual([file, 0]);
      expect(stdout).toContain(taskId);
    }
  });

  const checkOf = async (how: NodeJS.ProcessEnv) => {
    const { reply } = await runJson(['doctor'], how);
    const checks = reply.data?.['checks'] as readonly { name: string; state: string; message: string }[];
    return checks.find(({ name }) => name === 'payloads');
  };

  it('doctor stores and reads a payload, and looks at the newest result', async () => {
    const said = (state: string, text: string) => ({
      state,
      message: expect.stringContaining(text) as unknown,
    });
    expect(await checkOf(env)).toMatchObject(said('ok', 'works'));
    expect(await checkOf(bare)).toMatchObject(said('warning', 'external storage'));
    proxy.rule = () => ({ when: 'before', what: 'hang' });
    const hanging = await checkOf({ ...env, AWS_ENDPOINT_URL_S3: proxy.endpoint });
    proxy.rule = () => null;
    expect(hanging).toMatchObject({ ...said('failed', 'Timed out'), errorType: 'storage_unreachable' });
    expect(await checkOf({ ...env, MEDIA_EXTERNAL_STORAGE: 's3://no-such-bucket' })).toMatchObject({
      state: 'failed',
      errorType: 'storage_unreachable',
    });
  });

  it('an unusable setting is refused by every kind of command, with what to do', async () => {
    const wrong = [
      [{ MEDIA_EXTERNAL_STORAGE: `s3://${bucket}/prefix` }, /without a prefix/],
      [{ MEDIA_EXTERNAL_STORAGE: '/a/folder' }, /must be s3:/],
      [{ MEDIA_EXTERNAL_STORAGE_THRESHOLD: 'all' }, /number of bytes/],
      [{ MEDIA_DATA_CONVERTER: './none.js' }, /cannot be loaded/],
      [{ MEDIA_DATA_CONVERTER: manifest }, /cannot be loaded/],
    ] as const;
    for (const [change, said] of wrong)
      for (const command of [['status', ids.video], ['worker'], ['replay', inDir('whole.json')]]) {
        const { code, stderr } = await runCli(command, { ...env, ...change });
        expect([change, command[0], code]).toEqual([change, command[0], 78]);
        expect(stderr).toMatch(said);
      }
  });

  it('a bucket that is away: said so, and nothing is bought', async () => {
    const away = { ...env, AWS_ENDPOINT_URL_S3: proxy.endpoint };
    proxy.rule = () => ({ when: 'before', what: 'cut' });
    try {
      for (const command of [
        ['status', ids.video],
        ['watch', ids.video],
        ['campaign', 'status', ids.campaign],
        ['replay', ids.video],
        buy.video(stack.server.uniqueId('away'), 'a kite of nowhere'),
      ]) {
        const { code, reply } = await runJson(command, away);
        expect([command[0], code, reply.error?.type]).toEqual([command[0], 69, 'storage_unreachable']);
        expect(JSON.stringify(reply)).not.toContain(bucket);
      }
    } finally {
      proxy.rule = () => null;
    }
    expect(await accepted(stack, 'a kite of nowhere')).toBe(0);
  });

  /** From now on, the bucket behind the proxy does not have these objects. The worker, which would store them again, does. */
  const lose = (references: readonly Payload[]): void => {
    const keys = references.map(({ data }) => {
      const { claimData } = JSON.parse(Buffer.from(data ?? []).toString()) as { claimData: { key: string } };
      return claimData.key;
    });
    expect(keys.length).toBeGreaterThan(0);
    proxy.rule = ({ url }) =>
      keys.some((key) => decodeURIComponent(url).includes(key))
        ? { when: 'before', what: { status: 404, code: 'NoSuchKey' } }
        : null;
  };

  it('a lost object: what else is known is shown, and other campaigns are listed', async () => {
    const behind = { ...env, AWS_ENDPOINT_URL_S3: proxy.endpoint };
    const { workflow } = stack.server.client;
    try {
      const { events } = await workflow.getHandle(ids.video).fetchHistory();
      lose(events?.at(-1)?.workflowExecutionCompletedEventAttributes?.result?.payloads ?? []);
      const status = await runJson(['status', ids.video], behind);
      expect([status.code, status.reply.data]).toEqual([
        0,
        expect.objectContaining({
          workflow: expect.objectContaining({ status: 'COMPLETED' }) as unknown,
          outcome: null,
          video: expect.objectContaining({ taskId }) as unknown,
          notes: [expect.stringMatching(/outcome.*missing in the external storage/)],
        }),
      ]);
      const watched = await runJson(['watch', ids.video], behind);
      expect([watched.code, watched.reply.error?.type]).toEqual([69, 'payload_unreadable']);
      expect(watched.reply.error?.hint).toContain('Restore the object');
      const { namespace } = stack.server;
      const { workflowExecutionInfo } = await stack.server.client.workflowService.describeWorkflowExecution({
        namespace,
        execution: { workflowId: ids.campaign },
      });
      lose(Object.values(workflowExecutionInfo?.memo?.fields ?? {}));
      const list = await runJson(['campaign', 'list'], behind);
      expect([list.code, JSON.stringify(list.reply.data)]).toEqual([
        0,
        expect.stringContaining(ids.campaign),
      ]);
      expect((await runCli(['orphans'], behind)).code).toBe(0);
    } finally {
      proxy.rule = () => null;
    }
  });

  it('a worker whose bucket fails when it stores the answer of a create buys once', async () => {
    const queue = { MEDIA_TASK_QUEUE: stack.server.uniqueId('cut'), MEDIA_JOURNAL: inDir('cut') };
    let cuts = 0;
    let isBought = false;
    proxy.before = async ({ method }) => {
      if (method === 'PUT') isBought ||= (await accepted(stack, 'a kite in the storm')) > 0;
    };
    proxy.rule = ({ method }) => {
      if (!isBought || cuts >= 12 || method === 'GET') return null;
      cuts += 1;
      return { when: 'after', what: 'cut' };
    };
    await worker({ ...env, ...queue, AWS_ENDPOINT_URL_S3: proxy.endpoint });
    const id = stack.server.uniqueId('storm');
    const { code, reply } = await runJson(buy.video(id, 'a kite in the storm'), { ...env, ...queue });
    proxy.rule = () => null;
    proxy.before = async () => undefined;
    expect([code, reply.data?.['outcome'], cuts]).toEqual([0, 'completed', 12]);
    expect(await accepted(stack, 'a kite in the storm')).toBe(1);
  });

  it('dev passes the storage to its worker, and commands use it too', async () => {
    const own = { ...server.env, MEDIA_DATA_DIR: inDir('dev') };
    const stored = {
      ...own,
      MEDIA_EXTERNAL_STORAGE: `s3://${bucket}`,
      MEDIA_EXTERNAL_STORAGE_THRESHOLD: '0',
    };
    const dev = startCli(['dev'], stored);
    children.push(dev);
    await dev.untilLine('stderr', /Ready:/);
    const bought = await runJson(buy.video('dev-film', 'a kite at home'), stored);
    expect([bought.code, bought.reply.data?.['outcome']]).toEqual([0, 'completed']);
    const refused = await runJson(buy.video('dev-film-2', 'another kite at home'), own);
    expect([refused.code, refused.reply.error?.type]).toEqual([69, 'payload_unreadable']);
    await stop(dev);
  });

  it('a rebind reads the paid calls of every history', async () => {
    const other = { MEDIA_JOURNAL: inDir('another-journal') };
    const blind = await runCli(['worker', '--rebind', '--yes'], { ...bare, ...other });
    expect([blind.code, blind.stderr]).toEqual([78, expect.stringContaining('external storage')]);
    const { ended, child } = await worker({ ...env, ...other }, '--rebind', '--yes');
    child.kill('SIGTERM');
    const { stderr } = await ended;
    for (const id of [ids.video, ids.image, ids.campaign]) expect(stderr).toContain(id);
  });
});
