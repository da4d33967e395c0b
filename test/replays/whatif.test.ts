import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type WhatIfReport } from '../../packages/cli/src/whatif/scenario';
import { expectDocumented } from '../cli/schemas/documented';
import { runCli, runJson } from '../cli/support/run-cli';
import { connectTestServer, type TestServer } from '../support/temporal';
import { runWrittenTest } from './written-test-run';

const INCIDENT = path.resolve(__dirname, '..', 'fixtures', 'replay', 'lost-reply.json');
const golden = (name: string): string => path.resolve(__dirname, '..', 'golden', `${name}.v1.json`);

describe('replay --whatif', () => {
  let dir: string;
  let server: TestServer;
  /** Stands for everything of the user that a local run must leave alone: nobody may connect to it. */
  let foreign: Server;
  let connections = 0;
  let env: NodeJS.ProcessEnv;

  const whatif = async (...args: string[]) => {
    const { code, reply, stderr } = await runJson(['replay', ...args, '--whatif'], env);
    const data = reply.data as unknown as WhatIfReport | undefined;
    if (data?.v !== undefined) expectDocumented('whatif', data);
    return { code, data, error: reply.error, stderr };
  };

  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'temporal-media-whatif-test-'));
    server = await connectTestServer();
    foreign = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await once(foreign.listen(0, '127.0.0.1'), 'listening');
    const { port } = foreign.address() as AddressInfo;
    env = {
      MEDIA_BASE_URL: `http://127.0.0.1:${port}`,
      MEDIA_API_KEY: 'a-key-of-the-user',
      MEDIA_MODELS: `http://127.0.0.1:${port}/models.json`,
      TEMPORAL_ADDRESS: `127.0.0.1:${port}`,
      HTTP_PROXY: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    };
  });
  afterAll(async () => {
    foreign.close();
    await server.close();
    await rm(dir, { recursive: true, force: true });
  });

  test('an incident: the same faults, the same decision, the same outcome, and a test of it that passes', async () => {
    const file = path.join(dir, 'incident.test.ts');
    const { code, data, stderr } = await whatif(INCIDENT, '--save-test', file);
    expect(stderr).toContain('ts-jest or @swc/jest');
    expect(stderr).toContain('pass a file name that ends in .js');
    expect([code, data?.outcome]).toEqual([
      0,
      { original: 'content_unavailable/expired', local: 'content_unavailable/expired', same: true },
    ]);
    expect(data?.notPlayed).toEqual([]);
    expect(data?.paid).toEqual({ received: 1, accepted: 1 });
    const [original, local] = [data?.original, data?.local].map((timeline) => ({
      kinds: timeline?.entries.map(({ kind }) => kind),
      // Tries whose pauses were our own are fewer by the speed.
      errors: Object.keys(timeline?.polls.errors ?? {}),
      sends: timeline?.sends,
    }));
    expect(local).toEqual(original);
    expect(connections).toBe(0);

    const text = await readFile(file, 'utf8');
    for (const secret of ['a kite', 'film-7', 'a-key-of-the-user', data?.original.taskId])
      expect(text).not.toContain(secret);
    const own = { TEMPORAL_ADDRESS: server.address, TEMPORAL_NAMESPACE: server.namespace };
    const passed = await runWrittenTest(file, own);
    expect(passed.said).toContain('✓ the outcome is content_unavailable/expired');
    expect(text).toContain('Requires Jest with a TypeScript transformer (such as ts-jest or @swc/jest');
    expect(passed.code).toBe(0);
    // The file does not expire any more: the test notices.
    const without = text.replace(/^.*type: 'expired'.*\n/m, '');
    expect(without).not.toBe(text);
    await writeFile(file, without);
    const failed = await runWrittenTest(file, own);
    expect(failed.code).toBe(1);
    expect(failed.said).toContain('"outcome": "completed"');
    // Three runs one after the other, each with the pace of the polls.
  }, 300_000);

  test('of a redacted history', async () => {
    const redacted = path.join(dir, 'redacted.json');
    expect(await runJson(['history', 'export', INCIDENT, redacted, '--redact'])).toMatchObject({ code: 0 });
    const { code, data } = await whatif(redacted);
    expect([code, data?.outcome.local]).toEqual([0, 'content_unavailable/expired']);
    expect(data?.notPlayed).toEqual([expect.stringContaining('open-canvas is used instead')]);
  });

  test('an image; the test that it writes, in JavaScript', async () => {
    const file = path.join(dir, 'image.test.js');
    const { code, data, stderr } = await whatif(golden('generateImage.unconfirmed'), '--save-test', file);
    expect(stderr).not.toContain('ts-jest');
    expect([code, data?.outcome.local, data?.paid]).toEqual([0, 'unconfirmed', { received: 1, accepted: 1 }]);
    const own = { TEMPORAL_ADDRESS: server.address, TEMPORAL_NAMESPACE: server.namespace };
    const { said } = await runWrittenTest(file, own);
    expect(said).toContain('✓ the outcome is unconfirmed');
    expect(said).not.toMatch(/\[INFO\]/);
  });

  test('what cannot be played is named, and another outcome has its exit code', async () => {
    const { code, stdout, stderr } = await runCli(
      ['replay', golden('generateVideo.rejected-by-model'), '--whatif'],
      env,
    );
    expect(code).toBe(5);
    expect(stdout).toContain('not played  a request that was rejected before it was sent (invalid_request)');
    expect(stdout).toContain('different outcome  rejected/invalid_request in the history, completed here');
    expect(stdout.match(/Where the time went/g)).toHaveLength(2);
    expect(stderr).toContain('Nothing is sent to another host, and your keys are not used');
    expect(connections).toBe(0);
  });

  test('what it refuses, before anything is started', async () => {
    const campaign = await whatif(golden('runCampaign.completed'));
    expect([campaign.code, campaign.error?.type]).toEqual([65, 'bad_input']);
    expect(campaign.error?.message).toContain('a single video or image call, but runCampaign is neither.');
    const completed = golden('generateVideo.completed');
    for (const args of [
      [completed, completed],
      [completed, '--children'],
      [completed, '--speed', '0'],
    ])
      expect(await whatif(...args)).toMatchObject({ code: 2, error: { type: 'usage' } });
    expect((await runJson(['replay', completed, '--save-test', 'x.test.ts'])).reply.error?.type).toBe(
      'usage',
    );
    const there = path.join(dir, 'there.test.ts');
    await writeFile(there, 'mine');
    expect((await whatif(completed, '--save-test', there)).error?.message).toContain(
      'Nothing was overwritten',
    );
    expect(await readFile(there, 'utf8')).toBe('mine');
    expect((await whatif(completed, '--save-test', path.join(dir, 'x.py'))).error?.message).toContain('.py');
  });
});
