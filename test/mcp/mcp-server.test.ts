import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { type CallToolResult, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { promptHash } from '../../packages/sandbox/src';
import { migratePostgres } from '../../packages/store-postgres/src';
import { startPostgres } from '../../scripts/stores/postgres';
import { startCutProxy } from '../ai-sdk/support/cut-proxy';
import { type CliBench, openCliBench } from '../cli/support/cli-bench';
import { cleanEnvironment } from '../cli/support/run-cli';
import { describeWith } from '../store-servers/support/postgres';
import { eventually } from '../support/eventually';
import { ownNamespace } from '../support/temporal';

const PROGRAM = path.resolve(__dirname, '..', '..', 'packages', 'mcp', 'bin', 'temporal-media-mcp.js');
const CHEAP = { model: 'cine-1', durationSeconds: 2 };
const DEAR = { model: 'cine-1', durationSeconds: 4 };
/** Between the cost of the two. */
const LIMIT = ['--max-spend', '0.15USD'];

describe('the MCP server', () => {
  let bench: CliBench;
  /** Everything that the servers said to clients. */
  const said: string[] = [];
  /** What the person answers to the next question, and the questions. */
  let answer: 'accept' | 'decline' | 'cancel' = 'cancel';
  const questions: string[] = [];
  const closing: (() => Promise<unknown>)[] = [];

  const id = (name: string): string => bench.server.uniqueId(name);
  const environment = (more: NodeJS.ProcessEnv = {}): Record<string, string> =>
    cleanEnvironment({ ...bench.clientEnv, MEDIA_MODELS: bench.sandbox.modelsUrl, ...more }) as Record<
      string,
      string
    >;
  const accepted = async (prompt: string): Promise<number> =>
    (await bench.sandbox.admin.counters()).acceptedByPromptHash[promptHash(prompt)] ?? 0;

  /** A client whose person can be asked. */
  function askingClient(): Client {
    const client = new Client({ name: 'asks', version: '1' }, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      questions.push(params.message);
      return { action: answer };
    });
    return client;
  }

  async function overStdio(client: Client, ...args: string[]): Promise<StdioClientTransport> {
    return withEnvironment(client, environment(), ...args);
  }

  async function withEnvironment(
    client: Client,
    env: Record<string, string>,
    ...args: string[]
  ): Promise<StdioClientTransport> {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [PROGRAM, ...args],
      env,
      stderr: 'ignore',
    });
    closing.push(() => client.close());
    await client.connect(transport);
    return transport;
  }

  async function call(client: Client, name: string, args: object) {
    const result = (await client.callTool({ name, arguments: { ...args } })) as CallToolResult;
    said.push(JSON.stringify(result));
    const [part] = result.content;
    return {
      isError: result.isError === true,
      text: part?.type === 'text' ? part.text : '',
      facts: result.structuredContent ?? {},
    };
  }

  const fetched = async (client: Client, purchase: string): Promise<readonly string[]> => {
    await eventually(
      'the end',
      async () => (await call(client, 'status', { id: purchase })).facts['state'] !== 'running',
    );
    const { facts } = await call(client, 'fetch', { id: purchase });
    return facts['files'] as readonly string[];
  };

  beforeAll(async () => {
    bench = await openCliBench({ timing: { queuedMs: 0, runningMs: 500 } });
    await bench.startWorker();
  });
  afterAll(async () => {
    await Promise.all(closing.map((close) => close()));
    await bench.close();
    expect(said.join('\n')).not.toMatch(/sandbox-key|harbor|\?sig|signature/i);
  });

  describe('over stdio', () => {
    let client: Client;
    beforeAll(async () => {
      client = askingClient();
      await overStdio(client, ...LIMIT);
    });

    test('lists its tools; create takes an id, and may be a task', async () => {
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name).sort()).toEqual(
        ['create_image', 'create_video', 'fetch', 'price_image', 'price_video', 'status'].sort(),
      );
      const create = tools.find(({ name }) => name === 'create_video');
      expect(create).toMatchObject({
        execution: { taskSupport: 'optional' },
        inputSchema: { required: ['id', 'model', 'prompt'], additionalProperties: false },
      });
    });

    test('prices a request, and names the field that is wrong; nothing is sent', async () => {
      const before = (await bench.sandbox.admin.counters()).creates.received;
      const price = await call(client, 'price_video', { ...CHEAP, prompt: 'harbor 1' });
      expect(price).toMatchObject({ isError: false, text: 'Estimated cost: 0.10 USD. Nothing was sent.' });
      const images = await call(client, 'price_image', { model: 'image-2', prompt: 'harbor 1', n: 2 });
      expect(images.text).toMatch(/^Estimated cost: /);
      const wrong = await call(client, 'price_video', { ...CHEAP, durationSeconds: 3, prompt: 'harbor 1' });
      expect(wrong.isError).toBe(true);
      expect(wrong.text).toMatch(/^rejected\/invalid_request: .*durationSeconds.*Allowed: 2, 4, 8/);
      const typo = await call(client, 'create_video', {
        ...CHEAP,
        id: id('typo'),
        prompt: 'harbor 1',
        second: 4,
      });
      expect(typo).toMatchObject({ isError: true, text: expect.stringContaining('second') as string });
      expect((await bench.sandbox.admin.counters()).creates.received).toBe(before);
    });

    test('create buys once for an id, and status and fetch follow it', async () => {
      const [prompt, purchase] = ['harbor 2', id('once')];
      const args = { ...CHEAP, id: purchase, prompt };
      expect(await call(client, 'create_video', args)).toMatchObject({
        isError: false,
        facts: { id: purchase, state: 'running' },
      });
      expect((await call(client, 'fetch', { id: purchase })).isError).toBe(false);
      const [file = ''] = await fetched(client, purchase);
      expect(path.dirname(file)).toBe(path.join(String(bench.clientEnv['MEDIA_DATA_DIR']), 'results'));
      expect((await readFile(file)).subarray(4, 8).toString()).toBe('ftyp');
      const again = await call(client, 'create_video', args);
      expect(again.facts).toMatchObject({ state: 'completed', files: [file] });
      expect(await accepted(prompt)).toBe(1);
      const other = await call(client, 'create_video', { ...args, prompt: 'harbor 2b' });
      expect(other).toMatchObject({ isError: true, facts: { error: 'rejected/creation_key_conflict' } });
      expect(await accepted('harbor 2b')).toBe(0);
      expect(questions).toEqual([]);
    });

    test('above the limit a person decides: declined sends nothing, accepted buys', async () => {
      const [prompt, purchase] = ['harbor 3', id('dear')];
      const args = { ...DEAR, id: purchase, prompt };
      answer = 'decline';
      const declined = await call(client, 'create_video', args);
      expect(declined).toMatchObject({ isError: true, facts: { error: 'spend_not_confirmed' } });
      expect(declined.text).toContain('It was not confirmed (decline). Nothing was sent.');
      expect(questions).toEqual([
        `The estimate is 0.20 USD, above the limit of 0.15 USD. Buy "${purchase}": create_video, model "cine-1", account "default"?`,
      ]);
      expect(await accepted(prompt)).toBe(0);
      answer = 'accept';
      expect((await call(client, 'create_video', args)).isError).toBe(false);
      expect(await fetched(client, purchase)).toHaveLength(1);
      expect(await accepted(prompt)).toBe(1);
    });

    test('a cost that nobody knows is above every limit', async () => {
      answer = 'decline';
      const args = { model: 'sketch-lite', prompt: 'harbor 4', id: id('unknown') };
      expect((await call(client, 'create_video', args)).text).toContain('The cost is unknown');
      expect(await accepted('harbor 4')).toBe(0);
    });

    test('images: two files of one call', async () => {
      const [prompt, purchase] = ['harbor 5', id('images')];
      answer = 'decline';
      const dear = { model: 'image-2 4K', size: '3840x2160', n: 2, prompt, id: id('large'), account: 'b' };
      await call(client, 'create_image', dear);
      expect(questions.at(-1)).toContain(
        `Buy "${dear.id}": generate_image, model "image-2 4K", n 2, account "b"?`,
      );
      await call(client, 'create_image', { model: 'image-2', prompt, n: 2, id: purchase });
      expect(await fetched(client, purchase)).toHaveLength(2);
      expect(await accepted(prompt)).toBe(1);
    });

    test('an unknown id is an error that says what to do', async () => {
      const found = await call(client, 'status', { id: id('nobody') });
      expect(found).toMatchObject({ isError: true, facts: { error: 'not_found' } });
      expect(found.text).toContain('Check the id');
    });

    test('as a task: the id is the task, and its result is the file', async () => {
      const [prompt, purchase] = ['harbor 6', id('task')];
      const params = { name: 'create_video', arguments: { ...CHEAP, id: purchase, prompt } };
      const seen: object[] = [];
      for await (const message of client.experimental.tasks.callToolStream(params, undefined, { task: {} }))
        seen.push(message);
      expect(seen[0]).toMatchObject({ type: 'taskCreated', task: { taskId: purchase, status: 'working' } });
      expect(seen.at(-1)).toMatchObject({
        type: 'result',
        result: { structuredContent: { id: purchase, state: 'completed', files: [expect.any(String)] } },
      });
      expect(await accepted(prompt)).toBe(1);
    });

    test('a refused task fails, and says why', async () => {
      answer = 'decline';
      const params = { name: 'create_video', arguments: { ...DEAR, id: id('refused'), prompt: 'harbor 7' } };
      const seen: object[] = [];
      for await (const message of client.experimental.tasks.callToolStream(params, undefined, { task: {} }))
        seen.push(message);
      expect(seen[0]).toMatchObject({
        type: 'taskCreated',
        task: { status: 'failed', statusMessage: expect.stringContaining('not confirmed') as string },
      });
      expect(await accepted('harbor 7')).toBe(0);
    });

    test('a server that is killed loses nothing: another finds the same call', async () => {
      const [prompt, purchase] = ['harbor 8', id('killed')];
      const [first, second] = [askingClient(), askingClient()];
      const transport = await overStdio(first, ...LIMIT);
      await call(first, 'create_video', { ...CHEAP, id: purchase, prompt });
      process.kill(transport.pid as number, 'SIGKILL');
      await overStdio(second, ...LIMIT);
      await call(second, 'create_video', { ...CHEAP, id: purchase, prompt });
      expect(await fetched(second, purchase)).toHaveLength(1);
      expect(await accepted(prompt)).toBe(1);
    });
  });

  describe('over HTTP', () => {
    let url: URL;
    beforeAll(async () => {
      const child = spawn(process.execPath, [PROGRAM, '--http', '0', ...LIMIT], {
        env: environment(),
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      const ended = once(child, 'exit');
      closing.push(() => (child.kill('SIGKILL'), ended));
      const [line] = (await once(createInterface(child.stderr), 'line')) as [string];
      url = new URL(line.replace('MCP server: ', ''));
    });

    async function overHttp(client: Client): Promise<void> {
      closing.push(() => client.close());
      await client.connect(new StreamableHTTPClientTransport(url));
    }

    test('a client that cannot ask gets a refusal that says what to do, and buys below the limit', async () => {
      const client = new Client({ name: 'mute', version: '1' });
      await overHttp(client);
      const dear = await call(client, 'create_video', { ...DEAR, id: id('mute'), prompt: 'harbor 9' });
      expect(dear).toMatchObject({ isError: true, facts: { error: 'spend_not_confirmed' } });
      expect(dear.text).toContain('does not support MCP elicitation');
      expect(dear.text).toContain("raise this server's --max-spend");
      expect(await accepted('harbor 9')).toBe(0);
      const purchase = id('cheap');
      await call(client, 'create_video', { ...CHEAP, id: purchase, prompt: 'harbor 10' });
      expect(await fetched(client, purchase)).toHaveLength(1);
      expect(await accepted('harbor 10')).toBe(1);
    });

    test('a person is asked over HTTP too', async () => {
      const client = askingClient();
      await overHttp(client);
      answer = 'accept';
      const purchase = id('asked');
      const args = { ...DEAR, id: purchase, prompt: 'harbor 11' };
      expect((await call(client, 'create_video', args)).isError).toBe(false);
      expect(questions.at(-1)).toContain(`Buy "${purchase}": create_video`);
    });

    test.each([
      ['a rebound host name', 403, { host: 'evil.example' }],
      ["another page's origin", 403, { origin: 'https://evil.example' }],
      ['a session of an earlier server', 404, { 'mcp-session-id': 'gone' }],
    ])('%s is refused with %i', async (_what, status, headers) => {
      const sent = request(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
      });
      const body = {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
      };
      sent.end(JSON.stringify(body));
      const [reply] = (await once(sent, 'response')) as [NodeJS.ReadableStream & { statusCode: number }];
      reply.resume();
      expect(reply.statusCode).toBe(status);
    });
  });

  test('results that cannot be read here: nothing is bought', async () => {
    const own = {
      TEMPORAL_NAMESPACE: (await ownNamespace()).namespace,
      MEDIA_TASK_QUEUE: id('encoded'),
      MEDIA_DATA_DIR: path.join(bench.dir, 'encoded'),
    };
    const codec = path.join(__dirname, '..', 'cli', 'support', 'converters', 'codec.js');
    await bench.startWorker({ ...own, MEDIA_DATA_CONVERTER: codec });
    const client = askingClient();
    await withEnvironment(client, environment(own), ...LIMIT);
    const refused = await call(client, 'create_video', { ...CHEAP, id: id('unread'), prompt: 'harbor 12' });
    expect(refused).toMatchObject({ isError: true, facts: { error: 'payload_unreadable' } });
    expect(await accepted('harbor 12')).toBe(0);
  });

  test('rejected calls share one connection to Temporal', async () => {
    const request = { ...CHEAP, durationSeconds: 3, prompt: 'harbor 13' };
    const program = path.join(__dirname, 'support', 'rejected-calls.js');
    const args = [program, JSON.stringify([id('a'), id('b'), id('c')]), JSON.stringify(request)];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env: environment() });
    const type = 'rejected/invalid_request';
    expect(JSON.parse(stdout)).toEqual({ errors: [type, type, type], opened: 1 });
  });

  describeWith('postgres')('with a journal in a table', () => {
    test('a task is polled without it, and every status uses one connection', async () => {
      const postgres = await startPostgres();
      closing.push(() => postgres.stop());
      await migratePostgres(postgres.url);
      const journal = new URL(postgres.url);
      const proxy = await startCutProxy(journal.host);
      journal.host = proxy.address;
      closing.unshift(() => proxy.close());
      const client = askingClient();
      const queue = { MEDIA_TASK_QUEUE: id('unserved'), MEDIA_JOURNAL: journal.href };
      await withEnvironment(client, environment(queue), ...LIMIT);
      const purchase = id('polled');
      const params = { name: 'create_video', arguments: { ...CHEAP, id: purchase, prompt: 'harbor 14' } };
      const { tasks } = client.experimental;
      for await (const message of tasks.callToolStream(params, undefined, { task: {} }))
        if (message.type === 'taskCreated') break;
      for (let poll = 0; poll < 3; poll++) expect((await tasks.getTask(purchase)).status).toBe('working');
      expect(proxy.opened()).toBe(0);
      for (let read = 0; read < 3; read++) await call(client, 'status', { id: id('nobody') });
      expect(proxy.opened()).toBe(1);
      await bench.server.client.workflow.getHandle(purchase).terminate();
    }, 60_000);
  });

  test('--help, and a wrong option or limit, say so on the terminal', async () => {
    const run = async (...args: string[]) => {
      const child = spawn(process.execPath, [PROGRAM, ...args], { env: environment() });
      let text = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk) => (text += String(chunk)));
      const [code] = (await once(child, 'close')) as [number];
      return { code, text };
    };
    expect(await run('--help')).toMatchObject({
      code: 0,
      text: expect.stringContaining('--max-spend') as string,
    });
    expect(await run('--maxspend', '1')).toMatchObject({
      code: 2,
      text: expect.stringContaining('`temporal-media-mcp --help`') as string,
    });
    expect(await run('--max-spend', 'much')).toMatchObject({
      code: 65,
      text: expect.stringContaining('--max-spend: must be a decimal amount') as string,
    });
  });
});
