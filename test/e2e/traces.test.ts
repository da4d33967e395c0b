import { readFileSync } from 'node:fs';
import path from 'node:path';
import { context, propagation, trace } from '@opentelemetry/api';
import { InMemorySpanExporter, type ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { startTracing, tracedClient, tracedWorker } from '../../examples/tracing';
import { type productFilm } from '../../examples/workflows';
import { type SandboxRequest } from '../../packages/sandbox/src/request-log';
import { canary, CanarySearch } from '../support/canary';
import { startMediaStack, type MediaStack } from '../support/media-stack';

const KEY = canary('key', 'kEyOfTraces');
const PROMPT = canary('prompt', 'pRomptOfTraces', (core) => `a teapot ${core}`);

/** The example of docs/metrics.md: a caller's workflow makes a poster and a film, and one download is resumed. */
describe('traces', () => {
  let stack: MediaStack;
  let spans: readonly ReadableSpan[];
  let requests: readonly SandboxRequest[];

  beforeAll(async () => {
    stack = await startMediaStack({
      sandbox: { apiKeys: [KEY.value], timing: { queuedMs: 0, runningMs: 500 } },
    });
    const { server, sandbox, taskQueue } = stack;
    // The film is fetched from its signed address.
    await sandbox.admin.addFaults([
      { operation: 'content', action: { type: 'status', status: 404 }, times: 0 },
      { operation: 'media', action: { type: 'cut_body', afterBytes: 5_000, how: 'reset' }, times: 1 },
    ]);
    const exporter = new InMemorySpanExporter();
    const { provider, tracing } = startTracing('test', exporter);
    const worker = await tracedWorker(tracing, { ...process.env, ...stack.env, MEDIA_API_KEY: KEY.value });
    const running = worker.run();
    const { connection } = server.client;
    const client = tracedClient(tracing, { connection, namespace: server.namespace });
    const film = await trace.getTracer('caller').startActiveSpan('order', async (span) => {
      const ordered = await client.workflow.execute<typeof productFilm>('productFilm', {
        taskQueue,
        workflowId: server.uniqueId('film'),
        args: [{ product: PROMPT.value }],
      });
      span.end();
      return ordered;
    });
    worker.shutdown();
    await running;
    expect(film).toMatchObject({ poster: { mediaType: 'image/png' }, film: { outcome: 'completed' } });
    await provider.forceFlush();
    spans = exporter.getFinishedSpans();
    requests = await sandbox.admin.requests();
    await provider.shutdown();
  });
  afterAll(async () => {
    trace.disable();
    context.disable();
    propagation.disable();
    await stack.stop();
  });

  const named = (name: string) => spans.filter((span) => span.name === name);
  const parentOf = (span: ReadableSpan) =>
    spans.find((other) => other.spanContext().spanId === span.parentSpanId);
  /** Names from a span up to the root. */
  function way(span: ReadableSpan): string[] {
    const parent = parentOf(span);
    return [span.name, ...(parent === undefined ? [] : way(parent))];
  }

  test('one trace, from the caller to each request', () => {
    expect(new Set(spans.map((span) => span.spanContext().traceId)).size).toBe(1);
    expect(spans.filter((span) => parentOf(span) === undefined).map(({ name }) => name)).toEqual(['order']);
    const [image, video] = named('media.create');
    const toCaller = ['RunWorkflow:productFilm', 'StartWorkflow:productFilm', 'order'];
    const activity = (type: string) => [`RunActivity:${type}`, `StartActivity:${type}`];
    expect(way(image!)).toEqual(['media.create', ...activity('media.generateImage'), ...toCaller]);
    const inVideo = (type: string) => [
      ...activity(type),
      'RunWorkflow:generateVideo',
      'StartChildWorkflow:generateVideo',
      ...toCaller,
    ];
    expect(way(video!)).toEqual(['media.create', ...inVideo('media.createVideo')]);
    expect(named('media.poll').length).toBe(named('RunActivity:media.pollVideos').length);
    for (const poll of named('media.poll'))
      expect(way(poll)).toEqual(['media.poll', ...inVideo('media.pollVideos')]);
    for (const download of named('media.download'))
      expect(way(download)).toEqual(['media.download', ...inVideo('media.downloadVideo')]);
  });

  test('what the spans say', () => {
    const account = expect.stringMatching(/^default@/) as string;
    const [image, video] = named('media.create').map(({ attributes }) => attributes);
    expect(image).toEqual({
      'media.operation': 'generate_image',
      'media.account': account,
      'media.model': 'image-2',
      'media.send_attempt': 0,
      'media.outcome': 'accepted',
      'http.response.status_code': 200,
    });
    const { taskId } = requests.find(({ operation }) => operation === 'create')!;
    expect(video).toMatchObject({
      'media.operation': 'create_video',
      'media.model': 'motion-omni',
      'media.outcome': 'accepted',
      'media.task_id': taskId,
    });
    expect(named('media.poll').at(-1)?.attributes).toEqual({
      'media.account': account,
      'media.tasks': 1,
      'media.answers.record': 1,
    });
    expect(named('media.download').map(({ attributes }) => attributes)).toMatchObject([
      { 'media.outcome': 'network', 'media.try': 1, 'media.resumed': false, 'error.type': 'network' },
      { 'media.outcome': 'downloaded', 'media.try': 2, 'media.resumed': true, 'media.account': account },
    ]);
  });

  test('[C5.4a] [C5.4c] no key, prompt or address is in a span', () => {
    const text = JSON.stringify(
      spans.map(({ name, attributes, events, status, links, resource }) => [
        [name, attributes, events, status],
        [links, resource.attributes],
      ]),
    );
    expect(new CanarySearch([KEY, PROMPT]).hits(Buffer.from(text))).toEqual([]);
    for (const url of [stack.sandbox.url, stack.sandbox.mediaUrl])
      expect(text).not.toContain(new URL(url).host);
    expect(text).not.toMatch(/signature/i);
  });

  test('[C5.3] the context of the trace is not sent to the service or to its media host', () => {
    expect(new Set(requests.map(({ origin }) => origin))).toEqual(new Set(['api', 'media']));
    const names = new Set(
      requests.flatMap(({ headerNames }) => headerNames.map((name) => name.toLowerCase())),
    );
    expect([...names].filter((name) => /^(trace|baggage|b3|x-b3|uber)/.test(name))).toEqual([]);
    expect(names).toContain('authorization');
  });

  test('docs/metrics.md links to examples/tracing.ts, which is short', () => {
    const read = (...names: string[]) => readFileSync(path.resolve(__dirname, '../..', ...names), 'utf8');
    expect(read('examples', 'tracing.ts').trimEnd().split('\n').length).toBeLessThanOrEqual(40);
    expect(read('docs', 'metrics.md')).toContain('](../examples/tracing.ts)');
  });
});
