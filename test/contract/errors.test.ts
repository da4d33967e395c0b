import { type ImageOutcome } from '../../src/domain/outcome';
import { type CreateVideoAnswer } from '../../src/domain/paid-call';
import { scheduledAt } from '../support/schedule';
import { type ContractBench, type LaterTry, laterTry, openBench } from './contract-bench';

/** Contract 7 over the wire: what replies to paid calls become. */
describe('errors of paid calls', () => {
  let bench: ContractBench;
  beforeAll(async () => {
    bench = await openBench();
  });
  afterEach(() => bench.reset());
  afterAll(() => bench.close());

  const counters = async () => {
    const { creates, images } = await bench.admin.counters();
    return { creates, images: { received: images.received, accepted: images.accepted } };
  };
  const once = { received: 1, accepted: 0 };

  /** An image call that is asked to be tried again. */
  async function later(call: Promise<ImageOutcome>): Promise<LaterTry> {
    const result = await call.catch((error: unknown) => laterTry(error));
    if ('outcome' in result) throw new Error(`not thrown: ${JSON.stringify(result)}`);
    return result;
  }

  test.each([400, 404, 405, 413, 415, 422])(
    '[C7.1] [C7.11] %d to a paid call is final, names what to fix, and is not repeated as it is',
    async (status) => {
      const body = { error: { message: 'aspect_ratio is not allowed', param: 'aspect_ratio' } };
      for (const operation of ['create', 'generate'] as const)
        await bench.fault(operation, { type: 'status', status, body });
      const [creationKey, imageKey] = [`final-${status}`, `final-image-${status}`];
      const sender = 'the same activity';
      for (let attempt = 0; attempt < 3; attempt++)
        for (const outcome of [
          await bench.create({}, { creationKey, sender }),
          await bench.generate({}, { creationKey: imageKey, sender }),
        ]) {
          expect(outcome).toMatchObject({
            outcome: 'rejected',
            httpStatus: status,
            reason: 'invalid_request',
          });
          const { message } = outcome as { message: string };
          expect(message).toMatch(
            /model.*duration.*resolution.*aspect ratio.*size.*quality.*count.*references/,
          );
          expect(message).toMatch(/before a task existed \(parsing or capability validation\)/);
          if (attempt === 0)
            expect(outcome).toMatchObject({ error: { message: 'aspect_ratio is not allowed' } });
        }
      expect(await counters()).toEqual({ creates: once, images: once });
    },
  );

  test('[C7.11] [C7.12] a 500 is described as possibly from before a task existed, and as nobody’s proven fault', async () => {
    await bench.fault('generate', { type: 'status', status: 500 });
    const outcome = await bench.generate({});
    expect(outcome).toMatchObject({ outcome: 'unconfirmed', billing: { state: 'needs_review' } });
    const { message } = outcome as { message: string };
    expect(message).toMatch(/may have occurred before a task existed \(parsing, capability validation\)/);
    expect(message).toMatch(/is not proof of a provider fault/);
    expect(message).not.toMatch(/provider (?:failed|is down|is at fault)|free|no cost/i);
  });

  test.each([
    [429, '7', true],
    [429, undefined, true],
    [503, '7', true],
    [425, undefined, true],
    [503, undefined, false],
    [502, '7', false],
    [504, '7', false],
    [500, '7', false],
    [408, undefined, false],
    [409, undefined, false],
  ])(
    '[C7.5] %d with Retry-After %s to a paid call may be sent again: %s',
    async (status, retryAfter, again) => {
      const headers: Record<string, string> = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
      for (const operation of ['create', 'generate'] as const)
        await bench.fault(operation, { type: 'status', status, headers });
      const creationKey = `again-${status}-${retryAfter}`;
      const before = Date.now();
      const answer = await bench.create({}, { creationKey, sender: 'the first' });
      // The activity that had this answer never sends again: only the workflow schedules another one.
      expect(await bench.create({}, { creationKey, sender: 'the first' })).toMatchObject({
        outcome: answer.outcome,
        sent: false,
      });
      if (again) {
        expect(answer).toMatchObject({ outcome: 'refused_for_now', httpStatus: status });
        const { notBefore } = answer as Extract<CreateVideoAnswer, { outcome: 'refused_for_now' }>;
        if (retryAfter === undefined) expect(notBefore).toBeNull();
        else expect(Date.parse(notBefore!)).toBeGreaterThanOrEqual(before + 7_000);
        const second = { creationKey, sender: 'the second' };
        // It is held back like the first one until the time that the service named.
        if (retryAfter !== undefined)
          expect(await bench.create({}, second)).toMatchObject({ outcome: 'refused_for_now', sent: false });
        expect(await bench.create({}, second, scheduledAt(Date.now() + 8_000))).toMatchObject({
          outcome: 'created',
          sendAttempt: 1,
        });
        const image = await later(bench.generate({}, { creationKey: `${creationKey}-image` }));
        expect(image).toMatchObject({ class: 'refused_for_now', httpStatus: status });
        if (retryAfter !== undefined)
          expect(Date.now() + image.delayMs!).toBeGreaterThanOrEqual(before + 7_000);
        expect((await counters()).creates).toEqual({ received: 2, accepted: 1 });
      } else {
        expect(answer).toMatchObject({ outcome: 'unconfirmed', evidence: { httpStatus: status } });
        expect(await bench.generate({})).toMatchObject({ outcome: 'unconfirmed' });
        expect(await counters()).toEqual({ creates: once, images: once });
      }
    },
  );

  test('[C7.5] an image that was refused for now is sent again by the next attempt, once', async () => {
    await bench.fault('generate', { type: 'status', status: 429, headers: { 'retry-after': '0' } });
    const creationKey = 'image-again';
    expect(await later(bench.generate({}, { creationKey }))).toMatchObject({ class: 'refused_for_now' });
    const second = await bench.generate({}, { creationKey }, { attempt: 2 });
    expect(second.outcome).toBe('completed');
    expect(await bench.generate({}, { creationKey }, { attempt: 3 })).toEqual(second);
    expect((await counters()).images).toEqual({ received: 2, accepted: 1 });
  });

  test('[C7.6] a paid call is repeated after a network failure only when provably nothing was sent', async () => {
    for (const operation of ['create', 'generate'] as const)
      await bench.fault(operation, { type: 'reset_early' });
    const creationKey = 'reset-early';
    // The bytes were on their way: nobody can say who read them.
    for (let attempt = 0; attempt < 2; attempt++)
      expect(await bench.create({}, { creationKey })).toMatchObject({
        outcome: 'unconfirmed',
        evidence: { cause: 'connection_lost_after_send' },
      });
    expect(await bench.generate({})).toMatchObject({ outcome: 'unconfirmed' });
    expect((await counters()).creates).toEqual({ received: 1, accepted: 0 });
    const unreachable = await openBench({ baseUrl: () => 'http://127.0.0.1:1' });
    try {
      const answer = await unreachable.create({});
      expect(answer).toMatchObject({ outcome: 'not_sent', permanent: false, sendAttemptUsed: true });
      expect(await later(unreachable.generate({}))).toMatchObject({ class: 'connection_refused' });
      expect(await unreachable.seen()).toEqual([]);
    } finally {
      await unreachable.close();
    }
  });

  const moderation = [
    { error: { code: 'moderation_blocked', message: 'x' } },
    { error: { code: 'content_policy_violation', type: 'invalid_request_error', message: 'x' } },
    { error: 'InputTextSensitiveContentDetected: x' },
    { code: 'DataInspectionFailed', message: 'x', data: null },
    { failureCode: 'SAFETY.INPUT.TEXT' },
  ];
  const capacity = [
    { error: { code: 'ServerOverloaded', message: 'x' } },
    { error: { code: 'EndpointRateLimitExceeded', message: 'x' } },
    { message: 'rate limit policy reached', code: 'rate_limit_exceeded' },
  ];

  test.each([400, 403, 422, 429, 503])(
    '[C7.8] moderation is seen in every shape that comes with %d',
    async (status) => {
      for (const body of moderation) {
        await bench.fault('create', { type: 'status', status, body, headers: { 'retry-after': '1' } });
        expect(await bench.create({})).toMatchObject({ outcome: 'rejected', reason: 'moderation' });
      }
      expect((await bench.admin.counters()).creates.received).toBe(moderation.length);
    },
  );

  test.each([
    [400, { outcome: 'rejected', reason: 'capacity' }],
    [429, { outcome: 'refused_for_now', error: { kind: 'capacity' } }],
    [503, { outcome: 'refused_for_now', error: { kind: 'capacity' } }],
    [500, { outcome: 'unconfirmed', evidence: { kind: 'capacity' } }],
    [502, { outcome: 'unconfirmed', evidence: { kind: 'capacity' } }],
  ])('[C7.8] capacity is seen with %d and is not taken for moderation', async (status, expected) => {
    for (const body of capacity) {
      await bench.fault('create', { type: 'status', status, body, headers: { 'retry-after': '1' } });
      expect(await bench.create({})).toMatchObject(expected);
    }
  });

  test.each([500, 502])(
    '[C7.8] moderation inside %d is told, although the fate stays unknown',
    async (status) => {
      await bench.fault('create', { type: 'status', status, body: moderation[0] });
      expect(await bench.create({})).toMatchObject({
        outcome: 'unconfirmed',
        evidence: { kind: 'moderation' },
      });
    },
  );

  const bodies: [string, { body?: unknown; raw?: string; contentType?: string }][] = [
    ['the usual object', { body: { error: { message: 'no', type: 't', param: null, code: null } } }],
    ['a flat object', { body: { code: 17, message: 'no', data: null } }],
    ['a detail', { body: { detail: 'no' } }],
    ['a list of details', { body: { detail: [{ loc: ['body', 'n'], msg: 'no', type: 'value' }] } }],
    ['a bare text', { body: 'no' }],
    ['a number', { body: 17 }],
    ['null', { body: null }],
    ['an array', { body: [[[]]] }],
    ['a page', { raw: '<!doctype html><title>Oops</title>', contentType: 'text/html' }],
    ['broken JSON', { raw: '{"error": ', contentType: 'application/json' }],
    ['nothing', { raw: '' }],
  ];

  test.each(bodies)('[C7.13] %s as the body of an error is read', async (_what, reply) => {
    const { video } = await bench.created({ model: 'motion-omni', durationSeconds: 3 });
    for (const operation of ['create', 'generate', 'poll', 'content'] as const)
      await bench.fault(operation, { type: 'status', status: 400, ...reply });
    for (const outcome of [await bench.create({}), await bench.generate({})])
      expect(outcome).toMatchObject({ outcome: 'rejected', reason: 'invalid_request', httpStatus: 400 });
    expect(await bench.poll(video)).toMatchObject({ error: 'bad_request', httpStatus: 400 });
    expect((await bench.download(video)).result.outcome).toBe('downloaded');
  });
});
