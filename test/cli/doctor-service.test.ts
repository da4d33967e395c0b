import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { freePort } from '../../src/stores/files/this-machine';
import { type CliBench, openCliBench } from './support/cli-bench';
import { type DoctorRun, expectNothingBought, runDoctor, startPolledWorker } from './support/doctor-run';

const PAGE = '<!doctype html><html><head><title>Sign in</title></head></html>';

describe('temporal-media doctor and the service', () => {
  let bench: CliBench;
  const servers: Server[] = [];
  beforeAll(async () => {
    bench = await openCliBench();
    await startPolledWorker(bench);
  });
  afterEach(() => expectNothingBought(bench));
  afterAll(async () => {
    for (const server of servers) server.close();
    await bench.close();
  });

  /** Listens on a port of its own; the address as a URL. */
  async function listening(server: Server): Promise<string> {
    servers.push(server.listen(0, '127.0.0.1').unref());
    await once(server, 'listening');
    server.on('connection', (socket) => socket.unref());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
  const answering = (listener: RequestListener): Promise<string> => listening(createServer(listener));
  const page = (status: number, headers = {}) =>
    answering((_request, response) =>
      response.writeHead(status, { 'content-type': 'text/html', ...headers }).end(PAGE),
    );
  const deadPort = async (): Promise<string> => `http://127.0.0.1:${await freePort()}`;
  const silent = (): Promise<string> => listening(createTcpServer());

  function expectFailure(run: DoctorRun, name: string, type: string, code: number, remedy: RegExp): void {
    expect(run.failed).toEqual([name]);
    expect([run.error?.type, run.code]).toEqual([type, code]);
    expect(run.checks[name]).toMatchObject({ state: 'failed', errorType: type, remedy: run.error?.hint });
    expect(run.error?.hint).toMatch(remedy);
  }

  test('[C5.4a] a wrong key: exit code 77, and no key is shown', async () => {
    const run = await runDoctor({ ...bench.workerEnv, MEDIA_API_KEY: 'wrong-key-open-sesame' });
    expectFailure(run, 'service', 'service_credentials', 77, /fix MEDIA_API_KEY/);
    expect(run.error?.message).toContain('HTTP 401');
    expect(run.text).not.toContain('wrong-key-open-sesame');
  });

  test('an address with a password is refused without being shown', async () => {
    const MEDIA_BASE_URL = 'https://user:s3cret-open-sesame@api.example.com/v1?signature=abcopen-sesame';
    const run = await runDoctor({ ...bench.workerEnv, MEDIA_BASE_URL });
    expectFailure(run, 'settings', 'configuration', 78, /Fix MEDIA_BASE_URL/);
    expect(run.text).not.toContain('open-sesame');
  });

  /** [what is broken, its variables, check, type, exit code, words, remedy] */
  type SetUp = [string, () => Promise<NodeJS.ProcessEnv>, string, string, number, string, RegExp];
  const base = async (url: Promise<string>) => ({ MEDIA_BASE_URL: await url });
  const via = async (url: Promise<string>) => ({ HTTP_PROXY: await url });
  const setUps: SetUp[] = [
    [
      'a service that is down',
      () => base(deadPort()),
      ...(['service', 'service_unreachable', 69, 'refused the connection', /MEDIA_BASE_URL/] as const),
    ],
    [
      'https to a service that speaks http',
      async () => ({ MEDIA_BASE_URL: bench.sandbox.url.replace('http:', 'https:') }),
      ...(['service', 'service_unreachable', 69, 'failed the TLS handshake', /MEDIA_BASE_URL/] as const),
    ],
    [
      'a service that hangs up',
      () => base(listening(createTcpServer((socket) => socket.destroy()))),
      ...(['service', 'service_unreachable', 69, 'closed the connection', /MEDIA_BASE_URL/] as const),
    ],
    [
      'a service that never answers',
      () => base(silent()),
      ...(['service', 'service_unreachable', 69, 'did not respond in time', /MEDIA_BASE_URL/] as const),
    ],
    [
      'the page of a login instead of the service',
      () => base(page(200)),
      ...([
        'service',
        'service_unexpected_reply',
        69,
        'An HTML page: Sign in',
        /a proxy or a login page/,
      ] as const),
    ],
    [
      'a web server of something else',
      () => base(page(404)),
      ...([
        'service',
        'service_unexpected_reply',
        69,
        'HTTP 404 with a web page',
        /including its path/,
      ] as const),
    ],
    [
      'a gateway without its service',
      () => base(page(502)),
      ...(['service', 'service_unexpected_reply', 69, 'HTTP 502', /MEDIA_BASE_URL/] as const),
    ],
    [
      'a service that is out of order',
      () => base(answering((_request, response) => response.writeHead(503).end('{"error":{}}'))),
      ...(['service', 'service_unexpected_reply', 69, 'HTTP 503', /again later/] as const),
    ],
    [
      'an address that redirects',
      () => base(answering((_request, response) => response.writeHead(301, { location: '/x' }).end())),
      ...(['service', 'service_unexpected_reply', 69, 'a redirect', /final URL/] as const),
    ],
    [
      'a key without access',
      () => base(answering((_request, response) => response.writeHead(403).end('{}'))),
      ...(['service', 'service_credentials', 77, 'HTTP 403', /fix MEDIA_API_KEY/] as const),
    ],
    [
      'an account without balance',
      () => base(answering((_request, response) => response.writeHead(402).end('{}'))),
      ...(['service', 'service_credentials', 77, 'no balance', /Top up/] as const),
    ],
    [
      'a proxy that is down',
      () => via(deadPort()),
      ...(['proxy', 'proxy', 78, 'refused the connection', /HTTPS_PROXY or HTTP_PROXY.*NO_PROXY/] as const),
    ],
    [
      'a proxy whose address is none',
      async () => ({ HTTP_PROXY: 'ftp://user:open-sesame@proxy' }),
      ...(['proxy', 'proxy', 78, 'proxy URL in the environment is invalid', /HTTP_PROXY/] as const),
    ],
    [
      'a proxy that opens no tunnel',
      () =>
        via(
          listening(
            createServer().on('connect', (_request, socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')),
          ),
        ),
      ...(['service', 'proxy', 78, 'did not open a tunnel', /NO_PROXY/] as const),
    ],
  ];

  test.each(setUps)(
    '%s: only that fails, with its remedy',
    async (_title, broken, name, type, code, words, remedy) => {
      // The configuration of the models has an address of its own: it does not go through a proxy here.
      const { MEDIA_MODELS: _models, ...env } = bench.workerEnv;
      const run = await runDoctor({ ...env, ...(await broken()) });
      expectFailure(run, name, type, code, remedy);
      expect(run.error?.message).toContain(words);
      expect(run.text).not.toMatch(/sandbox-key|open-sesame/);
    },
  );

  test('a proxy that is down does not matter to a service that NO_PROXY names', async () => {
    const HTTP_PROXY = await deadPort();
    const run = await runDoctor({ ...bench.workerEnv, HTTP_PROXY, NO_PROXY: '127.0.0.1' });
    expect([run.code, run.checks['proxy']?.message]).toEqual([
      0,
      'not used for the service: its host is in NO_PROXY',
    ]);
  });

  test('server and service hang at the same time: both fail, and the run ends', async () => {
    const TEMPORAL_ADDRESS = new URL(await silent()).host;
    const run = await runDoctor({ ...bench.workerEnv, TEMPORAL_ADDRESS, MEDIA_BASE_URL: await silent() });
    expect([run.failed, run.code]).toEqual([['temporal', 'service'], 69]);
    expect(run.error?.type).toBe('temporal_unreachable');
    expect(run.checks['workers']).toMatchObject({ state: 'skipped', dependsOn: 'temporal' });
  });

  test('a service that answers oddly, but answers, is a warning', async () => {
    const url = await answering((_request, response) => response.writeHead(500).end('{"error":{}}'));
    const run = await runDoctor({ ...bench.workerEnv, MEDIA_BASE_URL: url });
    expect(run.code).toBe(0);
    expect(run.checks['service']?.state).toBe('warning');
    expect(run.checks['service']?.message).toContain('HTTP 500');
  });
});
