import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { type Browser, chromium, type Page } from 'playwright-core';
import { filmId, filmPages } from '../../examples/progress/server';
import { eventually } from '../support/eventually';
import { type MediaStack, startMediaStack } from '../support/media-stack';
import { CHROMIUM, inBrowser } from './guarded-page';

inBrowser('the page of a film', () => {
  let stack: MediaStack;
  let browser: Browser;
  let page: Page;
  let server: Server;
  let port = 0;
  /** Requests for events, with the event that each was the last to get. */
  const asked: (string | undefined)[] = [];
  /** What a proxy says while the server is away. */
  let isAway = false;

  beforeAll(async () => {
    stack = await startMediaStack({ sandbox: { timing: { queuedMs: 0, runningMs: 1_000 } } });
    await stack.startWorker();
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser.close();
    await stack.stop();
  });
  beforeEach(async () => {
    asked.length = 0;
    await serve();
    page = await browser.newPage();
  });
  afterEach(async () => {
    await page.close();
    await stopServer();
  });

  async function serve(): Promise<void> {
    const films = filmPages({ media: stack.media, userOf: () => 'ann', intervalMs: 200, retryMs: 200 });
    server = createServer((request, response) => {
      note(request);
      if (isAway) response.writeHead(502).end();
      else films(request, response);
    });
    await once(server.listen(port, '127.0.0.1'), 'listening');
    port = (server.address() as AddressInfo).port;
  }

  function note({ url, headers }: IncomingMessage): void {
    if (url?.endsWith('/events') === true) asked.push(headers['last-event-id'] as string | undefined);
  }

  async function stopServer(): Promise<void> {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  async function order(prompt: string) {
    const name = stack.server.uniqueId('order');
    const request = { model: 'cine-1', prompt, durationSeconds: 2 };
    const started = await stack.media.startVideo({ request }, { id: filmId('ann', name) });
    return { started, address: `http://127.0.0.1:${port}/films/${name}` };
  }

  const shows = (id: string, text: string) =>
    page.waitForFunction(
      ([where, what]) => document.getElementById(where as string)?.textContent === what,
      [id, text],
      { timeout: 30_000 },
    );

  test('survives a reload, a lost connection, and a server that is away, until the film is done', async () => {
    const { started, address } = await order('[run:25s] a kite that takes its time');
    await page.goto(address);
    await shows('state', 'Being made');
    await shows('connection', '');
    expect(asked).toEqual([undefined]);

    await page.reload();
    await shows('state', 'Being made');
    expect(asked).toEqual([undefined, undefined]);

    // The browser connects again by itself, and names the event that it has.
    server.closeAllConnections();
    await eventually('a new connection', async () => asked.length > 2);
    await shows('connection', '');
    expect(asked.slice(2)).toEqual(asked.slice(2).map(() => expect.stringMatching(/^[\w-]{16}$/) as string));
    await shows('state', 'Being made');

    // With an error status the browser gives up, and the page begins again.
    isAway = true;
    server.closeAllConnections();
    await shows('connection', 'Connection lost. Reconnecting …');
    const before = asked.length;
    await eventually('requests in vain', async () => asked.length > before + 1);
    isAway = false;
    await shows('connection', '');

    // A restart.
    await stopServer();
    await shows('connection', 'Connection lost. Reconnecting …');
    await serve();
    await shows('connection', '');
    await shows('state', 'Being made');

    expect(await started.result()).toMatchObject({ outcome: 'completed' });
    await shows('state', 'Done: completed');
    expect(await page.evaluate(() => document.querySelector('progress')?.value)).toBe(100);
    // The page has closed its connection: the server has none left to wait for.
    const sockets = () =>
      new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)));
    const answered = asked.length;
    server.closeIdleConnections();
    await eventually('no open connection', async () => (await sockets()) === 0);
    expect(asked).toHaveLength(answered);
    await page.reload();
    await shows('state', 'Done: completed');
  });

  test('shows that there is no such film', async () => {
    await page.goto(`http://127.0.0.1:${port}/films/no-such-order`);
    await shows('state', 'No such film');
  });
});
