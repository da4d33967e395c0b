import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { sandboxModels } from '../../packages/sandbox/src/models';
import { accountName } from '../../src/service/endpoint';
import { startTestSandbox, type TestSandbox } from '../support/shared-sandbox';
import { type CliBench, openCliBench } from './support/cli-bench';
import { expectNothingBought, runDoctor } from './support/doctor-run';
import { runCli, runJson } from './support/run-cli';

describe('commands with several accounts', () => {
  let bench: CliBench;
  let other: TestSandbox;
  let file: string;
  let env: NodeJS.ProcessEnv;
  beforeAll(async () => {
    bench = await openCliBench({ timing: { queuedMs: 0, runningMs: 0 } });
    other = await startTestSandbox({
      apiKeys: ['key-of-b-open-sesame'],
      timing: { queuedMs: 0, runningMs: 0 },
    });
    file = path.join(bench.dir, 'accounts.json');
    const { MEDIA_BASE_URL: _url, MEDIA_API_KEY: _key, ...rest } = bench.workerEnv;
    env = { ...rest, MEDIA_ACCOUNTS: file };
    await writeFile(path.join(bench.dir, 'a.key'), 'sandbox-key');
    await writeFile(
      path.join(bench.dir, 'own.json'),
      JSON.stringify({ version: 1, models: [{ ...sandboxModels.models[0], id: 'only-of-b' }] }),
    );
    await writeFile(
      file,
      JSON.stringify({
        version: 1,
        accounts: [
          { name: 'studio-a', baseUrl: bench.sandbox.url, keyFile: 'a.key' },
          { name: 'studio-b', baseUrl: other.url, keyFile: 'b.key', models: 'own.json' },
        ],
      }),
    );
  });
  beforeEach(() => writeFile(path.join(bench.dir, 'b.key'), 'key-of-b-open-sesame'));
  afterAll(async () => {
    await bench.close();
    await other.close();
  });
  const names = () =>
    [accountName('studio-a', bench.sandbox.url), accountName('studio-b', other.url)] as const;

  test('[C5.4a] the worker names all of them, doctor checks each, and shows no key', async () => {
    const worker = await bench.startWorker({ ...env, MEDIA_BASE_URL: '', MEDIA_API_KEY: '' });
    const [a, b] = names();
    const good = await runDoctor(env);
    expect(good.failed).toEqual([]);
    expect(good.checks['service']).toMatchObject({
      state: 'ok',
      accounts: [
        { account: a, state: 'ok' },
        { account: b, state: 'ok' },
      ],
    });
    expect(good.checks['settings']?.message).toContain(`2 accounts: ${a} from MEDIA_ACCOUNTS, ${b} from`);
    expect(good.checks['binding']?.state).toBe('ok');
    await writeFile(path.join(bench.dir, 'b.key'), 'wrong-key-open-sesame');
    const bad = await runDoctor(env);
    expect([bad.failed, bad.code]).toEqual([['service'], 77]);
    expect(bad.error?.message).toContain(`${b}: ${other.url} rejected the key`);
    expect(bad.error?.hint).toContain(b);
    expect(bad.checks['service']).toMatchObject({ accounts: [{ state: 'ok' }, { state: 'failed' }] });
    worker.child.kill('SIGTERM');
    const { stderr } = await worker.ended;
    expect(stderr).toContain(`accounts ${a}, ${b}.`);
    expect(`${good.text}${bad.text}${stderr}`).not.toContain('open-sesame');
    await expectNothingBought(bench);
  });

  test('doctor and the worker refuse a broken file with the field; config show names it', async () => {
    const broken = path.join(bench.dir, 'broken.json');
    await writeFile(
      broken,
      JSON.stringify({ version: 1, accounts: [{ name: 'a b', apiKey: 'open-sesame' }] }),
    );
    const own = { ...env, MEDIA_ACCOUNTS: broken };
    const [doctor, worker, config] = await Promise.all([
      runDoctor(own),
      runJson(['worker'], own),
      runJson(['config', 'show'], own),
    ]);
    expect([doctor.failed[0], doctor.code]).toEqual(['settings', 78]);
    expect([worker.reply.error?.type, worker.code, config.code]).toEqual(['configuration', 78, 78]);
    for (const text of [doctor.text, worker.stdout, config.stdout]) {
      expect(text).toMatch(/accounts\[0\]\.name/);
      expect(text).not.toContain('open-sesame');
    }
    const shown = await runCli(['config', 'show'], env);
    expect(shown.stdout).toContain(file);
  });

  test('models and dry runs are those of the account that is named', async () => {
    const [all, own, none] = await Promise.all([
      runJson(['models'], env),
      runJson(['models', '--account', 'studio-b'], env),
      runJson(['models', '--account', 'studio-c'], env),
    ]);
    expect(all.reply.data).toMatchObject({ source: { account: 'default' } });
    expect((own.reply.data?.['models'] as { id: string }[]).map(({ id }) => id)).toEqual(['only-of-b']);
    expect(own.reply.data).toMatchObject({
      source: { account: 'studio-b', location: path.join(bench.dir, 'own.json') },
    });
    expect(own.stderr).toContain('for account studio-b');
    expect([none.code, none.reply.error?.hint]).toEqual([65, 'Configured accounts: studio-a, studio-b.']);
    const dry = ['video', '--model', 'only-of-b', '--prompt', 'x', '--duration', '2', '--dry-run'];
    const [ofB, ofA] = await Promise.all([
      runJson([...dry, '--account', 'studio-b'], env),
      runJson([...dry, '--account', 'studio-a'], env),
    ]);
    expect(ofB.reply.data).toMatchObject({ model: 'entry', request: { baseUrl: other.url } });
    expect(ofA.reply.error?.type).toBe('rejected/invalid_request');
  });
});
