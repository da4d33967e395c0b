import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { TemporalMediaClient } from '../../src/client';
import { METRICS } from '../../src/domain/metrics';
import { type PollingMode } from '../../src/domain/video-task';
import { accountName } from '../../src/service/endpoint';
import { freePort } from '../../src/stores/files/this-machine';
import { type CliBench, openCliBench } from '../cli/support/cli-bench';
import { type CliProcess, startCli } from '../cli/support/run-cli';
import { canary, CanarySearch } from '../support/canary';
import { eventually } from '../support/eventually';
import { type Sample, readScrape } from '../support/prometheus';

const KEY = canary('key', 'kEyOfMetrics');
const PROMPT = canary('prompt', 'pRomptOfMetrics', (core) => `a kite ${core} over the sea`);
const ID = canary('creation key', 'iDOfMetrics');
const DOCS = path.resolve(__dirname, '..', '..', 'docs');

/** One worker process that has made videos and images, some of which failed; then its metrics and its log. */
describe('what a worker reports', () => {
  let bench: CliBench;
  let worker: CliProcess;
  let address: string;
  let text = '';
  let samples: readonly Sample[] = [];
  let log: readonly Record<string, unknown>[] = [];
  let account = '';
  const taskIds: string[] = [];

  beforeAll(async () => {
    bench = await openCliBench({ apiKeys: [KEY.value], timing: { queuedMs: 0, runningMs: 0 } });
    const { sandbox, dir, server, workerEnv, clientEnv } = bench;
    account = accountName('studio', sandbox.url);
    await writeFile(path.join(dir, 'good.key'), KEY.value);
    await writeFile(path.join(dir, 'bad.key'), `${KEY.value}-of-yesterday`);
    const file = path.join(dir, 'accounts.json');
    const spendLimit = { amount: '10.00', currency: 'USD', per: 'day' };
    const accounts = [
      { name: 'studio', baseUrl: sandbox.url, keyFile: 'good.key', spendLimit },
      { name: 'unlimited', baseUrl: sandbox.url, keyFile: 'good.key' },
      { name: 'refused', baseUrl: sandbox.url, keyFile: 'bad.key' },
    ].map((one) => ({ ...one, allowedMediaOrigins: [new URL(sandbox.mediaUrl).origin] }));
    await writeFile(file, JSON.stringify({ version: 1, accounts }));
    address = `127.0.0.1:${await freePort()}`;
    const { MEDIA_BASE_URL: _url, MEDIA_API_KEY: _key, ...rest } = workerEnv;
    worker = startCli(['worker'], {
      ...rest,
      MEDIA_ACCOUNTS: file,
      MEDIA_METRICS_ADDRESS: address,
      MEDIA_LOG_FORMAT: 'json',
    });
    await worker.untilLine('stderr', /"message":"Ready: task queue/);

    const media = new TemporalMediaClient(server.client, { taskQueue: clientEnv['MEDIA_TASK_QUEUE'] ?? '' });
    const video = async (
      words: string,
      more: { durationSeconds?: number; account?: string; model?: string; polling?: PollingMode } = {},
    ) => {
      const { account: credential = 'studio', durationSeconds = 2, model = 'cine-1', polling = 'own' } = more;
      const request = { model, prompt: `${words} ${PROMPT.value}`, durationSeconds };
      const id = `${ID.value}-${server.uniqueId('video')}`;
      const started = await media.startVideo({ request, account: credential, polling }, { id });
      return started.result();
    };
    const image = async (words: string) => {
      const request = { model: 'image-2', prompt: `${words} ${PROMPT.value}` };
      const id = `${ID.value}-${server.uniqueId('image')}`;
      return (await media.images.start({ request, account: 'studio' }, { id })).result();
    };
    const ends = await Promise.all([
      video('[run:5s] [content:not-ready]', { polling: 'shared' }),
      video('[poll:http:503]'),
      video('[lost-reply]'),
      video('[fail:moderation]'),
      video('invalid', { durationSeconds: 3 }),
      video('unpaid', { account: 'refused' }),
      video('of an unknown price', { account: 'unlimited', model: 'sketch-lite' }),
      image('one'),
      image('[http:400]'),
    ]);
    expect(ends.map(({ outcome }) => outcome)).toEqual([
      'completed',
      'completed',
      'unconfirmed',
      'failed',
      'rejected',
      'rejected',
      'completed',
      'completed',
      'rejected',
    ]);
    for (const end of ends) if ('video' in end && end.video !== null) taskIds.push(end.video.taskId);
    // Sinks of workflows are called after their result is on its way.
    await eventually('the ends of all videos', async () => {
      text = await (await fetch(`http://${address}/metrics`)).text();
      samples = readScrape(text);
      return sum(METRICS.videoEnds.name, {}) === 7;
    });
    worker.child.kill('SIGTERM');
    const { code, stderr } = await worker.ended;
    expect(code).toBe(0);
    log = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  });
  afterAll(async () => {
    worker.child.kill('SIGTERM');
    await worker.ended;
    await bench.close();
  });

  function sum(name: string, labels: Readonly<Record<string, string>>): number {
    return samples
      .filter((one) => one.name === name)
      .filter((one) => Object.entries(labels).every(([label, value]) => one.labels[label] === value))
      .reduce((all, { value }) => all + value, 0);
  }

  test('every metric of the table, of its kind and with its labels', () => {
    for (const { name, kind, labels } of Object.values(METRICS)) {
      expect(text).toContain(`# TYPE ${name} ${kind}\n`);
      const own = samples.filter((one) => one.name === (kind === 'histogram' ? `${name}_count` : name));
      expect({ name, series: own.length }).not.toEqual({ name, series: 0 });
      // Those of workflows carry the names that the SDK adds.
      const added = new Set(['namespace', 'task_queue', 'taskQueue', 'workflow_type', 'workflowType']);
      for (const one of own)
        expect(
          Object.keys(one.labels)
            .filter((label) => !added.has(label))
            .sort(),
        ).toEqual([...labels].sort());
    }
  });

  test('calls by outcome and reason', () => {
    const calls = (labels: Readonly<Record<string, string>>) => sum(METRICS.calls.name, labels);
    const video = { operation: 'create_video', account, model: 'cine-1' };
    expect(calls({ ...video, outcome: 'accepted' })).toBe(3);
    expect(calls({ ...video, outcome: 'unconfirmed', reason: 'connection_lost_after_send' })).toBe(1);
    expect(calls({ operation: 'create_video', account, outcome: 'refused_before_send' })).toBe(1);
    expect(calls({ operation: 'generate_image', account, model: 'image-2', outcome: 'accepted' })).toBe(1);
    expect(
      calls({ operation: 'generate_image', account, outcome: 'refused', reason: 'invalid_request' }),
    ).toBe(1);
    const refused = accountName('refused', bench.sandbox.url);
    expect(calls({ account: refused, outcome: 'refused', reason: 'credentials' })).toBe(1);
    expect(calls({})).toBe(9);
    expect(sum(METRICS.unconfirmed.name, { account })).toBe(1);
    expect(sum(METRICS.unconfirmed.name, { account: refused })).toBe(0);
    const closed = { account: refused, scope: 'account' };
    expect(sum(METRICS.gatesClosed.name, closed)).toBe(1);
    expect(sum(METRICS.gateClosings.name, { ...closed, reason: 'credentials' })).toBe(1);
  });

  test('money: three videos and an image were accepted, one create is of unknown fate, and no call counts twice', () => {
    const estimated = (labels: Readonly<Record<string, string>>) =>
      sum(METRICS.estimated.name, { currency: 'USD', account, ...labels });
    expect(estimated({ operation: 'create_video', fate: 'accepted' })).toBe(300_000);
    expect(estimated({ operation: 'create_video', fate: 'unconfirmed' })).toBe(100_000);
    expect(estimated({ operation: 'generate_image', fate: 'accepted' })).toBe(40_000);
    expect(sum(METRICS.imageCost.name, { currency: 'USD' })).toBe(40_000);
    const unpriced = { operation: 'create_video', model: 'sketch-lite' };
    expect(sum(METRICS.unpriced.name, unpriced)).toBe(1);
    expect(sum(METRICS.unpriced.name, {})).toBe(1);
    // The two completed ones, the failed one and that of unknown fate.
    expect(sum(METRICS.videoCost.name, { currency: 'USD' })).toBe(400_000);
    expect(sum(METRICS.spendLimit.name, { account, currency: 'USD', per: 'day' })).toBe(10_000_000);
    expect(sum(METRICS.spend.name, { account })).toBeGreaterThanOrEqual(40_000);
  });

  test('polls, downloads, images, the journal and the worker', () => {
    expect(sum(METRICS.polls.name, { account, answer: 'record' })).toBeGreaterThanOrEqual(3);
    expect(sum(METRICS.polls.name, { account, answer: 'unavailable' })).toBe(1);
    expect(sum(METRICS.inFlight.name, { account })).toBe(0);
    expect(sum(`${METRICS.detection.name}_count`, { account })).toBeGreaterThanOrEqual(1);
    expect(sum(METRICS.downloadTries.name, { account, result: 'downloaded' })).toBe(2);
    expect(sum(METRICS.downloads.name, { account, outcome: 'downloaded', reason: '' })).toBe(2);
    expect(sum(METRICS.downloadedBytes.name, { account })).toBeGreaterThan(1_000);
    expect(sum(METRICS.images.name, { model: 'image-2', outcome: 'stored' })).toBe(1);
    expect(sum(`${METRICS.journalLatency.name}_count`, { operation: 'append', kind: 'file' })).toBe(16);
    expect(sum(METRICS.journalFailures.name, {})).toBe(0);
    expect(sum(METRICS.accountsServed.name, {})).toBe(3);
  });

  test('what a video and its watcher say to each other', () => {
    const joins = (result: string) => sum(METRICS.watchJoins.name, { result });
    expect(['joined', 'kept', 'rejoined', 'unanswered'].map(joins)).toEqual([1, 0, 0, 0]);
    expect(sum(METRICS.watchEnds.name, { result: 'told' })).toBe(1);
    expect(sum(METRICS.watchEnds.name, {})).toBe(1);
    expect(sum(METRICS.watchersOpen.name, {})).toBeLessThanOrEqual(1);
    expect(sum(METRICS.watchersReplaced.name, {})).toBe(0);
  });

  test('the metrics of the alerts and of the dashboard exist', () => {
    const known = new Set(samples.map(({ name }) => name));
    for (const page of ['alerts.yml', 'grafana-dashboard.json']) {
      const named = readFileSync(path.join(DOCS, page), 'utf8').match(/\btemporal_[a-z_]+/g) ?? [];
      expect(named.length).toBeGreaterThan(10);
      expect({ page, unknown: named.filter((name) => !known.has(name)) }).toEqual({ page, unknown: [] });
    }
  });

  test('[C5.4a] [C5.4c] no key, prompt, id or address is in a scrape, and no key or prompt in the log', () => {
    const all = new CanarySearch([KEY, PROMPT, ID]);
    expect(all.hits(Buffer.from(text))).toEqual([]);
    expect(taskIds.length).toBeGreaterThanOrEqual(3);
    for (const id of taskIds) expect(text).not.toContain(id);
    for (const url of [bench.sandbox.url, bench.sandbox.mediaUrl])
      expect(text).not.toContain(new URL(url).host);
    const lines = log.map((line) => JSON.stringify(line)).join('\n');
    expect(new CanarySearch([KEY, PROMPT]).hits(Buffer.from(lines))).toEqual([]);
    for (const url of [bench.sandbox.url, bench.sandbox.mediaUrl])
      expect(lines).not.toContain(new URL(url).host);
  });

  test('the log has a line for each call that was sent, and for each download, with its ids and outcome', () => {
    const of = (message: string, at = 'INFO') =>
      log.filter(
        (line) => line.level === at && line['message'] === message && line['model'] !== 'sketch-lite',
      );
    expect(of('create_video accepted')).toHaveLength(3);
    for (const line of of('create_video accepted')) {
      expect(line['creationKey']).toContain(ID.core);
      expect(taskIds).toContain(line['taskId']);
      expect(line).toMatchObject({
        outcome: 'created',
        account,
        model: 'cine-1',
        estimatedMicroUnits: 100_000,
      });
    }
    expect(of('create_video unconfirmed', 'WARN')).toMatchObject([
      {
        outcome: 'unconfirmed',
        reason: 'connection_lost_after_send',
        remedy: expect.stringContaining('adopt its task') as string,
      },
    ]);
    expect(of('create_video refused')).toMatchObject([{ outcome: 'rejected', reason: 'credentials' }]);
    expect(of('generate_image accepted')).toMatchObject([{ outcome: 'completed' }]);
    expect(of('generate_image refused')).toMatchObject([{ outcome: 'rejected' }]);
    expect(of('download downloaded')).toHaveLength(3);
    for (const line of of('download downloaded')) expect(taskIds).toContain(line['taskId']);
  });
});
