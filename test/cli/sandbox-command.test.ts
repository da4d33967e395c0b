import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { replyOf, runJson, startCli } from './support/run-cli';

describe('temporal-media sandbox', () => {
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'temporal-media-sandbox-cli-'));
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  test('serves until SIGTERM, with the faults of a file and the key that was given', async () => {
    const faults = path.join(dir, 'faults.json');
    const fault = {
      operation: 'create',
      action: { type: 'status', status: 429, headers: { 'retry-after': '7' } },
    };
    await writeFile(faults, JSON.stringify([fault]));
    const sandbox = startCli(['sandbox', '--json', '--faults', faults, '--key', 'k1'], {});
    const ready = JSON.parse(await sandbox.untilLine('stdout', /"ok":true/)) as { data: { url: string } };
    const create = (key: string): Promise<Response> =>
      fetch(`${ready.data.url}/v1/videos`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'cine-1', prompt: 'a cat' }),
      });
    const limited = await create('k1');
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '7']);
    expect((await create('k1')).ok).toBe(true);
    expect((await create('sandbox-key')).status).toBe(401);

    const taken = await runJson(['sandbox', '--port', new URL(ready.data.url).port]);
    expect([taken.code, taken.reply.error?.type]).toEqual([78, 'port_in_use']);

    sandbox.child.kill('SIGTERM');
    const run = await sandbox.ended;
    expect(run.code).toBe(0);
    expect(replyOf(run)).toMatchObject({ ok: true });
  });

  test('--mode compat takes text seconds and serves its own OpenAPI document; another mode is a usage error', async () => {
    const sandbox = startCli(['sandbox', '--json', '--mode', 'compat'], {});
    const ready = JSON.parse(await sandbox.untilLine('stdout', /"ok":true/)) as {
      data: { url: string; adminUrl: string };
    };
    const created = await fetch(`${ready.data.url}/v1/videos`, {
      method: 'POST',
      headers: { authorization: 'Bearer sandbox-key', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'cine-1', prompt: 'a cat', seconds: '2', size: null }),
    });
    expect([created.status, await created.json()]).toMatchObject([200, { seconds: '2', error: null }]);
    const document = await fetch(`${ready.data.adminUrl}/openapi.json`);
    expect(await document.json()).toMatchObject({
      info: { title: expect.stringContaining('compat') as string },
    });
    sandbox.child.kill('SIGTERM');
    expect((await sandbox.ended).code).toBe(0);
    expect((await runJson(['sandbox', '--mode', 'loose'])).code).toBe(2);
  });

  test('a fault file that is no array: exit code 65', async () => {
    const file = path.join(dir, 'broken.json');
    await writeFile(file, '{}');
    const { code, reply } = await runJson(['sandbox', '--faults', file]);
    expect(code).toBe(65);
    expect(reply.error?.message).toContain('--faults');
  });

  test('a fault that the sandbox does not know: exit code 65, with what is allowed', async () => {
    const file = path.join(dir, 'unknown.json');
    await writeFile(file, '[{"operation":"poll","action":{"type":"explode"}}]');
    const { code, reply } = await runJson(['sandbox', '--faults', file]);
    expect([code, reply.error?.type]).toEqual([65, 'bad_input']);
    expect(reply.error?.message).toContain('Allowed: status, accept_then_status');
  });
});
