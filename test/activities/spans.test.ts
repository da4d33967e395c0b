import {
  context,
  type Context,
  type ContextManager,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { createSandbox, type Sandbox, SandboxAdmin } from '../../packages/sandbox/src';
import { sendInSpan, withSpan } from '../../src/activities/spans';
import { resolveCreatePolicy } from '../../src/domain/create-policy';
import { type VideoRequest } from '../../src/domain/request';
import { createMediaClient } from '../../src/service/create-media-client';
import { type MediaClient } from '../../src/service/media-client';
import { wireVideoBody } from '../../src/service/request-bodies';

function fail(): never {
  throw new Error('the tracer of the user fails');
}

/** A recorded span whose methods may be replaced. */
const spanWith = (broken: Partial<Span>): Span =>
  Object.assign(new NodeTracerProvider({ spanProcessors: [] }).getTracer('broken').startSpan('span'), broken);

function useTracer(startSpan: Tracer['startSpan']): void {
  trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan, startActiveSpan: fail }) });
}

function useContexts(run: (work: () => unknown) => unknown): void {
  const manager: ContextManager = {
    active: () => ROOT_CONTEXT,
    with: ((_context: Context, work: () => unknown) => run(() => work())) as ContextManager['with'],
    bind: (_context, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  context.setGlobalContextManager(manager);
  useTracer(() => spanWith({}));
}

/** What a user may have registered, with what is broken of it. */
const BROKEN: Readonly<Record<string, () => void>> = {
  'no provider': () => undefined,
  'a provider that throws': () => void trace.setGlobalTracerProvider({ getTracer: fail }),
  'a tracer that throws': () => useTracer(fail),
  'a tracer that makes no span': () => useTracer(() => undefined as never),
  'attributes that are refused': () => useTracer(() => spanWith({ setAttributes: fail, setAttribute: fail })),
  'a status that is refused': () => useTracer(() => spanWith({ setStatus: fail })),
  'an end that throws': () => useTracer(() => spanWith({ end: fail })),
  'a context that throws before the work': () => useContexts(fail),
  'a context that throws after the work': () => useContexts((work) => [work(), fail()]),
  'a context that does the work twice': () => useContexts((work) => [work(), work()]),
  'a context that never does the work': () => useContexts(() => undefined),
};

describe('spans', () => {
  let sandbox: Sandbox;
  let admin: SandboxAdmin;
  let client: MediaClient;
  const exporter = new InMemorySpanExporter();

  beforeAll(async () => {
    sandbox = await createSandbox();
    admin = new SandboxAdmin(sandbox.adminUrl);
    client = createMediaClient({ baseUrl: sandbox.url, apiKey: () => 'sandbox-key' });
  });
  afterAll(async () => {
    await client.close();
    await sandbox.close();
  });
  afterEach(() => {
    trace.disable();
    context.disable();
    exporter.reset();
  });

  function record(): void {
    new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
  }

  async function create(prompt: string, { deadlineMs = 10_000, isKnownModel = true } = {}) {
    const request: VideoRequest = { model: 'cine-1', prompt, durationSeconds: 2 };
    const wire = await wireVideoBody(request, undefined, []);
    if (!wire.ok) throw new Error('no body');
    const call = { operation: 'create_video', account: 'default@00000000', model: 'cine-1' } as const;
    const options = { policy: resolveCreatePolicy(), deadlineMs };
    return sendInSpan({ ...call, isKnownModel, sendAttempt: 1 }, options, (sent) =>
      client.createVideo(wire.body, sent),
    );
  }

  const received = async () => (await admin.counters()).operations.create.received;

  it.each(Object.keys(BROKEN))('[C4.4a] a paid request is sent once and answered with %s', async (name) => {
    BROKEN[name]!();
    const before = await received();
    expect(await create('a kite')).toMatchObject({ class: 'accepted' });
    expect(await received()).toBe(before + 1);
  });

  it.each(Object.keys(BROKEN))('an error stays as it is with %s', async (name) => {
    BROKEN[name]!();
    let runs = 0;
    const error = new Error('of the work');
    const work = async () => {
      runs += 1;
      throw error;
    };
    const end = () => ({ attributes: {} });
    await expect(withSpan({ name: 'span', attributes: () => ({}), work, end })).rejects.toBe(error);
    expect(runs).toBe(1);
  });

  it.each([
    ['a tracer takes', performance],
    ['a machine sleeps meanwhile', Date],
  ])(
    'the time that %s is part of the time of the call: nothing is sent after it',
    async (_, clock: { now(): number }) => {
      const now = clock.now.bind(clock);
      useTracer(() => {
        jest.spyOn(clock, 'now').mockImplementation(() => now() + 60);
        return spanWith({});
      });
      const before = await received();
      expect(await create('too late', { deadlineMs: 50 })).toMatchObject({ class: 'not_sent' });
      jest.restoreAllMocks();
      expect(await received()).toBe(before);
    },
  );

  it('a request that was not accepted has its reason, and no name of a model that only its caller knows', async () => {
    record();
    await create('[http:429] a kite', { isKnownModel: false });
    await create('[lost-reply] a kite');
    await create('[http:400] a kite');
    expect(exporter.getFinishedSpans().map(({ attributes, status }) => [attributes, status])).toMatchObject([
      [
        {
          'media.model': 'other',
          'media.outcome': 'refused',
          'http.response.status_code': 429,
          'error.type': 'http_429',
        },
        { code: SpanStatusCode.ERROR },
      ],
      [
        {
          'media.model': 'cine-1',
          'media.outcome': 'unconfirmed',
          'error.type': 'connection_lost_after_send',
        },
        { code: SpanStatusCode.ERROR },
      ],
      [{ 'media.outcome': 'refused', 'error.type': 'invalid_request' }, { code: SpanStatusCode.ERROR }],
    ]);
  });

  it('of an error nothing but the fact is kept', async () => {
    record();
    const work = async () => Promise.reject(new Error('a secret'));
    const failed = withSpan({ name: 'span', attributes: () => ({}), work, end: () => ({ attributes: {} }) });
    await expect(failed).rejects.toThrow('a secret');
    const [span] = exporter.getFinishedSpans();
    expect(span).toMatchObject({ attributes: { 'error.type': 'exception' }, events: [] });
    expect(span?.status).toEqual({ code: SpanStatusCode.ERROR });
  });

  it('without the package there are none, and the work is done', async () => {
    record();
    await jest.isolateModulesAsync(async () => {
      jest.doMock('@opentelemetry/api', () => {
        throw Object.assign(new Error('Cannot find module'), { code: 'MODULE_NOT_FOUND' });
      });
      const spans = jest.requireActual<{ withSpan: typeof withSpan }>('../../src/activities/spans');
      const end = () => ({ attributes: {} });
      const work = async () => 'done';
      expect(await spans.withSpan({ name: 'span', attributes: () => ({}), work, end })).toBe('done');
    });
    expect(exporter.getFinishedSpans()).toEqual([]);
  });
});
