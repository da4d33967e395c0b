import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createFileJournal } from '../../src/stores/journal/file-journal';
import { accepted, received } from '../support/accepted';
import { eventually } from '../support/eventually';
import { type CliBench, openCliBench } from './support/cli-bench';
import { runCli, runJson } from './support/run-cli';

/** Labels of calls, from the command line to the journal, and limits by label. */
describe('labels', () => {
  let bench: CliBench;
  let env: NodeJS.ProcessEnv;
  const out = (): string[] => ['--out', path.join(bench.dir, 'out')];
  const image = (id: string, prompt: string, ...more: string[]) =>
    runJson(
      [
        ...['image', '--model', 'image-2', '--size', '1024x1024', '--prompt', prompt, '--id', id],
        ...[...out(), ...more],
      ],
      env,
    );
  const labelsOf = async (creationKey: string) => {
    const journal = createFileJournal({ root: path.join(bench.dir, 'data', 'journal') });
    const [intent] = await journal.read({ namespace: bench.server.namespace, creationKey });
    return intent?.kind === 'intent' ? intent.labels : undefined;
  };

  beforeAll(async () => {
    bench = await openCliBench({ timing: { queuedMs: 0, runningMs: 200 } });
    const accounts = path.join(bench.dir, 'accounts.json');
    const keyFile = path.join(bench.dir, 'key');
    await writeFile(keyFile, 'sandbox-key', { mode: 0o600 });
    const limits = [
      { label: 'tenant', each: '1USD', values: { acme: '0.06USD' }, per: 'month' },
      { label: 'project', values: { trial: '0.06USD' }, per: 'day', whenReached: 'refuse' },
    ];
    const studio = {
      ...{ name: 'studio', baseUrl: bench.sandbox.url, keyFile, models: bench.sandbox.modelsUrl },
      ...{ allowedMediaOrigins: [bench.sandbox.mediaUrl], limits },
    };
    await writeFile(accounts, JSON.stringify({ version: 1, accounts: [studio] }));
    env = { ...bench.clientEnv, MEDIA_ACCOUNTS: accounts };
    await bench.startWorker({ MEDIA_ACCOUNTS: accounts });
  }, 120_000);
  afterAll(() => bench.close());

  test('of a call are in its log and in the report, and another label is not another request', async () => {
    const id = bench.server.uniqueId('poster');
    const label = ['--account', 'studio', '--label', 'tenant=globex', '--label', 'shop=a b'];
    const made = await image(id, `a poster ${id}`, ...label);
    expect([made.code, made.reply.error]).toEqual([0, undefined]);
    expect(await labelsOf(id)).toEqual({ tenant: 'globex', shop: 'a b' });
    const status = await runJson(['status', id], env);
    expect(status.reply.data).toMatchObject({ labels: { tenant: 'globex', shop: 'a b' } });
    const again = await image(id, `a poster ${id}`, '--account', 'studio', '--label', 'tenant=other');
    expect(again.code).toBe(0);
    const report = await runJson(['money', 'report', '--by', 'label:tenant,account'], env);
    expect(report.reply.data?.['rows']).toMatchObject([
      { group: { 'label:tenant': 'globex' }, calls: 1, accepted: 1 },
    ]);
  });

  test.each([
    ['--label', 'tenant'],
    ['--label', 'Tenant=a'],
    ['--label', 'tenant=a,b'],
    ['--priority', '9'],
    ['--fairness', 'label:tenant'],
  ])('%s %s is refused before anything is sent', async (option, value) => {
    const refused = await image(bench.server.uniqueId('odd'), 'an odd label', option, value);
    expect([refused.code, JSON.stringify(refused.reply.error)]).toEqual([
      65,
      expect.stringContaining(option),
    ]);
  });

  test('[C1.7] of a limit: the next call waits or is refused, a person allows more, and it is bought once', async () => {
    const stack = { sandbox: bench.sandbox } as unknown as Parameters<typeof accepted>[0];
    const tenant = ['--account', 'studio', '--label', 'tenant=acme'];
    const first = bench.server.uniqueId('first');
    expect((await image(first, `first ${first}`, ...tenant)).code).toBe(0);
    const second = bench.server.uniqueId('second');
    const waiting = await image(second, `second ${second}`, ...tenant, '--wait-for', '3s');
    expect(waiting.code).toBe(75);
    const shown = await eventually('the wait', async () => {
      const { reply } = await runJson(['status', second], env);
      const text = JSON.stringify(reply.data);
      return text.includes('studio/tenant=acme') && text;
    });
    expect(shown).toContain('spend_limit');
    expect(await received(stack, `second ${second}`)).toBe(0);
    const limits = async () =>
      (await runJson(['money', 'limits'], env)).reply.data?.['limits'] as { payer: string }[];
    const own = async () => (await limits()).find(({ payer }) => payer === 'studio/tenant=acme');
    expect(await own()).toMatchObject({ limit: 60_000, spent: 40_000, left: 20_000, allowed: 0 });
    expect(await limits()).toContainEqual(expect.objectContaining({ payer: 'studio/tenant=globex' }));
    const allow = ['money', 'allow', 'tenant=acme', '0.10USD', '--reason', 'launch', '--by', 'ada'];
    const allowed = await runCli(allow, env);
    expect([allowed.code, allowed.stderr]).toEqual([0, expect.stringContaining('0.10 USD more per month')]);
    expect(await own()).toMatchObject({ spent: 40_000, left: 120_000, allowed: 100_000 });
    const third = bench.server.uniqueId('third');
    expect((await image(third, `third ${third}`, ...tenant)).code).toBe(0);
    // A dearer bill counts in place of the estimate, also beyond the limit.
    const settle = ['money', 'settle', third, '--amount', '0.50USD', '--reference', 'i', '--reason', 'r'];
    expect((await runCli(settle, env)).code).toBe(0);
    expect((await runCli(settle, env)).code).toBe(0);
    expect(await own()).toMatchObject({ spent: 540_000, left: 0 });
    const trial = ['--account', 'studio', '--label', 'project=trial'];
    expect((await image(bench.server.uniqueId('trial'), 'a trial', ...trial)).code).toBe(0);
    const refused = await image(bench.server.uniqueId('trial'), 'another trial', ...trial);
    expect(refused.reply.error?.type ?? refused.reply.data?.['reason']).toContain('spend_limit');
    expect(await accepted(stack, 'another trial')).toBe(0);
    const nobody = await runJson(['money', 'allow', 'tenant=nobody', '1EUR', '--reason', 'r'], env);
    expect(nobody.code).toBe(65);
  });

  test('of a campaign and its columns are those of its rows, and its priority can be changed', async () => {
    const manifest = path.join(bench.dir, 'rows.csv');
    const rows = ['a', 'b', 'c'].map(
      (id) => `${id},image-2,1024x1024,a boat ${id},${id === 'c' ? 'beta' : ''}`,
    );
    await writeFile(manifest, ['id,model,size,prompt,label:team', ...rows].join('\n'));
    const id = bench.server.uniqueId('labelled');
    const labels = ['--label', 'tenant=globex', '--label', 'team=alpha', '--fairness', 'label:tenant'];
    const run = ['campaign', 'run', manifest, '--id', id, '--account', 'studio', '--yes', ...labels];
    const done = await runJson([...run, '--out', path.join(bench.dir, id), '--priority', '2'], env);
    expect([done.code, done.reply.error]).toEqual([0, undefined]);
    const report = await runJson(['money', 'report', '--by', 'label:team,campaign'], env);
    const teams = (report.reply.data?.['rows'] as { group: Record<string, string>; calls: number }[])
      .filter(({ group }) => group['campaign'] === id)
      .map(({ group, calls }) => [group['label:team'], calls]);
    expect(teams).toEqual([
      ['alpha', 2],
      ['beta', 1],
    ]);
    const summary = await readFile(path.join(bench.dir, id, 'summary.json'), 'utf8');
    expect(JSON.parse(summary)).toMatchObject({
      moneyByLabel: [
        { label: 'team=alpha', rows: 2 },
        { label: 'team=beta', rows: 1 },
        { label: 'tenant=globex', rows: 3 },
      ],
    });
    const page = await readFile(path.join(bench.dir, id, 'index.html'), 'utf8');
    expect(page).toContain('Money by label');
    expect(page).toContain('<bdi>team=beta</bdi>');
    const { client } = bench.server;
    const described = await client.workflow.getHandle(`${id}/batch/0`).describe();
    expect(described.priority).toMatchObject({ priorityKey: 2, fairnessKey: 'globex' });
    expect(described.memo).toMatchObject({ mediaLabels: { tenant: 'globex', team: 'alpha' } });
  });
});
