import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type DoctorCheck, type DoctorFacts, type Finding, ok } from '../../packages/cli/src/doctor/check';
import {
  artifacts,
  checkNativePart,
  checkNodeVersion,
  checkSdkCopies,
} from '../../packages/cli/src/doctor/local';
import { CHECKS, reportInOrder, runChecks } from '../../packages/cli/src/doctor/run';
import { checkServiceAnswer } from '../../packages/cli/src/doctor/service';
import {
  checkActivityQueues,
  checkPollers,
  checkServerVersion,
} from '../../packages/cli/src/doctor/temporal';
import { errorType } from '../../packages/cli/src/shared/exit-codes';
import { sdkCopies } from '../../src/installation';
import { type GetVideoResult } from '../../src/service/media-client';
import { readConfig } from '../../src/settings/config';
import { isOlder } from '../../src/worker/temporal-server-version';

/** What a script would see. */
const seen = (finding: Finding): readonly unknown[] => [
  finding.state,
  ...('errorType' in finding ? [finding.errorType] : []),
];

describe('the artifact store where only commands run', () => {
  const before = { ...process.env };
  afterEach(() => {
    process.env = { ...before };
  });

  test('a bucket is asked; one that does not answer is a warning with its cause', async () => {
    // Nobody listens on port 1.
    Object.assign(process.env, { AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:1', AWS_ACCESS_KEY_ID: 'id' });
    Object.assign(process.env, { AWS_SECRET_ACCESS_KEY: 'secret-of-the-bucket' });
    const config = readConfig({ MEDIA_ARTIFACTS: 's3://pictures/all' });
    const finding = await artifacts.run({ config, workerSide: false } as DoctorFacts);
    expect(finding.state).toBe('warning');
    expect(finding.message).toContain("A request to the artifact store's bucket failed");
    expect(JSON.stringify(finding)).not.toContain('secret-of-the-bucket');
  });
});

describe('versions', () => {
  test.each([
    ['v20.18.1', '20.18.1', false],
    ['v20.18.0', '20.18.1', true],
    ['v20.9.9', '20.18.1', true],
    ['v22.0.0-nightly2024', '20.18.1', false],
    ['1.28', '1.28.0', false],
    ['1.31.0-148.0', '1.28.0', false],
  ])('%s is older than %s: %s', (version, than, older) => expect(isOlder(version, than)).toBe(older));

  test('an old Node fails with both versions', () => {
    const finding = checkNodeVersion('v18.20.4', '>=20.18.1');
    expect(seen(finding)).toEqual(['failed', 'node_version']);
    expect(finding).toMatchObject({
      message: 'This is Node 18.20.4, but 20.18.1 or later is required.',
      remedy: 'Install Node 20.18.1 or later.',
    });
    expect(errorType('node_version').exitCode).toBe(78);
  });

  test('Bun tells the version of a Node, and is none', () => {
    const finding = checkNodeVersion('v24.3.0', '>=20.18.1', '1.3.0');
    expect(seen(finding)).toEqual(['failed', 'node_version']);
    expect(finding.message).toBe('This is Bun 1.3.0, but the Temporal SDK runs only on Node.');
  });

  test('a system for which the SDK has no native part fails, with where a worker runs', () => {
    expect(checkNativePart()).toBeUndefined();
    const finding = checkNativePart(() => {
      throw new Error('No prebuilt module found at /srv/app/node_modules/@temporalio/core-bridge/releases');
    });
    expect(seen(finding!)).toEqual(['failed', 'native_part_missing']);
    expect(finding).toMatchObject({
      message: expect.stringContaining(`(${process.platform} ${process.arch})`) as string,
      remedy: expect.stringContaining('instead of Alpine') as string,
    });
    expect(JSON.stringify(finding)).not.toContain('/srv/app');
  });

  test('an old Temporal server is a warning, one that hides its version is not', () => {
    expect(checkServerVersion('1.25.2', 'here').state).toBe('warning');
    expect(checkServerVersion('1.24.3', 'here')).toMatchObject({
      state: 'warning',
      remedy: 'Upgrade to Temporal server 1.25.0 or later.',
    });
    for (const unknown of ['', '0.0.0-DEV', '1.31.0-150.2'])
      expect(checkServerVersion(unknown, 'here').state).toBe('ok');
  });
});

describe('copies of the SDK', () => {
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'temporal-media-copies-'));
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  async function install(folder: string, name: string, version: string): Promise<void> {
    const at = path.join(dir, folder, 'node_modules', name);
    await mkdir(at, { recursive: true });
    await writeFile(path.join(at, 'package.json'), JSON.stringify({ name, version, main: 'index.js' }));
    await writeFile(path.join(at, 'index.js'), '');
  }

  test('a worker with a copy of its own is named with its version', async () => {
    await install('two', '@temporalio/common', '1.24.0');
    await install('two', '@temporalio/worker', '1.23.0');
    await install('two/node_modules/@temporalio/worker', '@temporalio/common', '1.23.0');
    const { resolve } = createRequire(path.join(dir, 'two', 'index.js'));
    const finding = checkSdkCopies(sdkCopies(['@temporalio/worker'], resolve));
    expect(seen(finding)).toEqual(['failed', 'two_sdk_copies']);
    expect(finding.message).toBe(
      '2 copies of @temporalio/common are installed: temporal-media loads 1.24.0, @temporalio/worker loads 1.23.0.',
    );
  });

  test('one copy that all share is fine', async () => {
    await install('one', '@temporalio/common', '1.24.0');
    await install('one', '@temporalio/worker', '1.24.0');
    const { resolve } = createRequire(path.join(dir, 'one', 'index.js'));
    expect(checkSdkCopies(sdkCopies(['@temporalio/worker'], resolve))).toEqual(ok('1.24.0, one copy'));
  });
});

describe('workers', () => {
  const now = 1_000_000_000;
  test.each<[string, number[], number[], string]>([
    ['both queues polled', [now - 60_000], [now - 1_000], 'ok'],
    ['a clock behind the server', [now + 60_000], [now + 60_000], 'ok'],
    ['a dead worker beside a live one', [now - 200_000, now], [now - 200_000, now], 'ok'],
    ['nobody', [], [], 'failed'],
    ['nobody for activities', [now], [], 'failed'],
    ['a dead worker that is still listed', [now - 120_000], [now - 120_000], 'failed'],
    ['activities of a dead worker', [now], [now - 120_000], 'failed'],
  ])('%s', (_title, workflows, activities, state) => {
    expect(checkPollers({ workflows, activities }, 'q', now)).toMatchObject({
      state,
      ...(state === 'failed' && { errorType: 'no_worker' }),
    });
  });
});

describe('the activity queues of a worker', () => {
  const now = 1_000_000;
  const served: Finding = { state: 'ok', message: '1 worker polls task queue "q"' };

  test('all polled of late: nothing is said', () => {
    const queues = ['q/create', 'q/poll'].map((queue) => [queue, [now - 1_000]] as const);
    expect(checkActivityQueues(served, queues, now)).toBe(served);
  });

  test('one that nobody polls, or nobody any more, fails and is named', () => {
    const queues = [
      ['q/create', []],
      ['q/poll', [now - 91_000]],
      ['q/image', [now - 91_000, now]],
    ] as const;
    const finding = checkActivityQueues(served, queues, now);
    expect(finding.state).toBe('failed');
    expect(finding.message).toContain(
      'no worker polls q/create, q/poll, so tasks on these queues would wait',
    );
  });
});

describe('the answer of the service', () => {
  const checkOf = (result: GetVideoResult, cause?: unknown): Finding =>
    checkServiceAnswer({ result, cause, baseUrl: 'https://service' });
  const fault = (code: string): Error => Object.assign(new Error('x'), { code });

  const said = (httpStatus: number, message: string | null, code: string | null = null): Finding =>
    checkOf({
      kind: 'error',
      error: httpStatus === 401 ? 'credentials' : 'bad_request',
      httpStatus,
      taskError: { kind: 'unknown', code, message },
    });

  test.each([
    [400, 'No such task.', 'task_not_found'],
    [404, 'Video doctor-1 not found', null],
    [404, 'Video not found: /v1/videos/doctor-1', null],
    [404, 'Resource not found: video doctor-1', null],
    [410, 'this job is gone', null],
    [422, null, 'invalid_task_id'],
  ])('HTTP %i that speaks of the task is the answer to expect: %s', (status, message, code) => {
    expect(said(status, message, code).state).toBe('ok');
  });

  test.each([
    [400, 'Incorrect API key provided', null],
    [400, null, 'invalid_api_key'],
    [404, 'token is invalid', null],
    [500, 'authentication failed for this task', null],
  ])('HTTP %i that speaks of the key is a wrong key: %s', (status, message, code) => {
    const finding = said(status, message, code);
    expect(seen(finding)).toEqual(['failed', 'service_credentials']);
    expect(finding.message).toContain(`HTTP ${status} with an error about the key`);
  });

  test.each([
    [404, 'Cannot GET /v1/videos/doctor-1'],
    [400, 'Invalid URL (GET /v1/v1/videos/doctor-1)'],
    [405, 'method not allowed'],
    [500, 'no route for /videos'],
    [404, 'No static resource v1/videos/doctor-1.'],
    [404, 'Resource not found: /v1/videos/doctor-1'],
    [404, 'The requested resource [path] was not found'],
    [404, 'Page not found: "/v1/videos/doctor-1"'],
    [404, '404 page not found'],
  ])('HTTP %i that speaks of the path is a wrong address: %s', (status, message) => {
    const finding = said(status, message);
    expect(seen(finding)).toEqual(['failed', 'service_unexpected_reply']);
    expect(finding).toMatchObject({
      message: expect.stringContaining('the path') as string,
      remedy: expect.stringContaining('MEDIA_BASE_URL') as string,
    });
  });

  test.each([400, 404, 500])('HTTP %i that speaks of the model says so', (status) => {
    const finding = said(status, 'model is required');
    expect([finding.state, finding.message]).toEqual([
      'warning',
      expect.stringContaining(
        `HTTP ${status} with an error about the model. Its message: "model is required"`,
      ),
    ]);
  });

  test.each([
    [400, 'Bad request', /does not prove that key and path/],
    [422, null, /does not prove that key and path/],
    [404, 'Not Found', /MEDIA_BASE_URL/],
    [404, 'Resource not found', /MEDIA_BASE_URL/],
    [404, 'GET /gw/v1/videos/doctor-1 not found', /MEDIA_BASE_URL/],
    [410, null, /MEDIA_BASE_URL/],
  ])('HTTP %i that names nothing proves nothing: %s', (status, message, remedy) => {
    const finding = said(status, message);
    expect(finding.state).toBe('warning');
    expect(finding.message).not.toContain('key is not refused');
    expect('remedy' in finding && finding.remedy).toMatch(remedy);
  });

  test('a refused key is told with the reason, and a long reason is cut', () => {
    expect(said(401, 'the key has expired').message).toBe(
      'https://service rejected the key (HTTP 401). Its message: "the key has expired".',
    );
    expect(said(401, 'x'.repeat(5_000)).message.length).toBeLessThan(300);
  });

  test.each([429, 409, 500])('HTTP %i is a warning', (httpStatus) => {
    expect(checkOf({ kind: 'error', error: 'unavailable', httpStatus }).state).toBe('warning');
  });

  test.each([
    ['ENOTFOUND', 'service_unreachable', 'cannot be resolved', /MEDIA_BASE_URL/],
    ['EAI_AGAIN', 'service_unreachable', 'cannot be resolved', /MEDIA_BASE_URL/],
    ['UND_ERR_CONNECT_TIMEOUT', 'service_unreachable', 'in time', /MEDIA_BASE_URL/],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'service_unreachable', 'untrusted certificate', /NODE_EXTRA_CA_CERTS/],
    ['UND_ERR_HEADERS_TIMEOUT', 'service_unreachable', 'UND_ERR_HEADERS_TIMEOUT', /MEDIA_BASE_URL/],
    ['UND_ERR_PRX_TLS', 'proxy', 'did not open a tunnel', /HTTPS_PROXY/],
  ])('%s has words and a remedy', (code, type, words, remedy) => {
    const finding = checkOf({ kind: 'error', error: 'network' }, fault(code));
    expect(seen(finding)).toEqual(['failed', type]);
    expect(finding.message).toContain(words);
    expect('remedy' in finding && finding.remedy).toMatch(remedy);
  });

  test('a record of a task that cannot exist is a warning', () => {
    const record = { status: 'queued', phase: 'queued' } as never;
    expect(checkOf({ kind: 'record', httpStatus: 200, resultUrls: [], record }).state).toBe('warning');
  });
});

describe('running the checks', () => {
  const facts = { workerSide: true } as DoctorFacts;
  const check = (
    name: DoctorCheck['name'],
    run: () => Promise<Finding>,
    after: DoctorCheck['after'] = [],
  ): DoctorCheck => ({
    ...{ name, after, run },
    ...{ title: name, limitMs: 50, late: 'service_unreachable' },
  });

  test('each check comes after those it depends on, and no check depends on a later one', () => {
    for (const [index, { after }] of CHECKS.entries()) {
      const before = CHECKS.slice(0, index).map(({ name }) => name);
      for (const name of after) expect(before).toContain(name);
    }
  });

  test('the longest chain of checks ends within 15 seconds', () => {
    const ends = new Map<string, number>();
    for (const { name, after, limitMs } of CHECKS)
      ends.set(name, limitMs + Math.max(0, ...after.map((one) => ends.get(one) ?? 0)));
    expect(Math.max(...ends.values())).toBeLessThanOrEqual(15_000);
  });

  test('what throws has failed, what hangs has failed, and what needs them is skipped for the first cause', async () => {
    const reports = await runChecks(
      [
        check('temporal', () => Promise.reject(new Error('odd'))),
        check('service', () => new Promise(() => undefined)),
        check('namespace', async () => ok(''), ['temporal']),
        check('workers', async () => ok(''), ['namespace']),
        check('models', async () => ok('')),
      ],
      facts,
    );
    expect(reports.map((report) => [report.name, ...seen(report)])).toEqual([
      ['temporal', 'failed', 'unexpected'],
      ['service', 'failed', 'service_unreachable'],
      ['namespace', 'skipped'],
      ['workers', 'skipped'],
      ['models', 'ok'],
    ]);
    expect(reports[3]).toMatchObject({ dependsOn: 'temporal' });
  });

  test('reports are handed on in order, each as early as that allows', () => {
    const handed: string[] = [];
    const take = reportInOrder(['node', 'sdk', 'settings'], ({ name }) => handed.push(name));
    const steps = (['sdk', 'node', 'settings'] as const).map((name) => {
      take({ name, ...ok('') });
      return [...handed];
    });
    expect(steps).toEqual([[], ['node', 'sdk'], ['node', 'sdk', 'settings']]);
  });
});
