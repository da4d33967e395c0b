import { type LostReply } from '../../packages/sandbox/src';
import { NOTHING_ANNOUNCED } from '../support/queue-binding';
import { scheduledAt } from '../support/schedule';
import { type ContractBench, openBench } from './contract-bench';

/** Contract 4 rule 4, with the counters of another process as the witness. */
describe('one creation', () => {
  let bench: ContractBench;
  /** Less time for replies that never come. */
  let deadline: { deadlineMs?: number } = {};
  beforeAll(async () => {
    bench = await openBench({
      client: (client) => ({
        ...client,
        createVideo: (body, options) => client.createVideo(body, { ...options, ...deadline }),
        generateImage: (body, options) => client.generateImage(body, { ...options, ...deadline }),
      }),
    });
  });
  afterEach(async () => {
    deadline = {};
    await bench.reset();
  });
  afterAll(() => bench.close());

  const losses: [LostReply, boolean][] = [
    ['reset', true],
    ['reset', false],
    ['close', true],
    ['close', false],
    ['stall', true],
    ['stall', false],
    ['stall_body', true],
    ['cut_body', true],
  ];

  test.each(losses)(
    '[C4.4a] [C4.4c] is sent once when its reply is lost by %s (accepted: %s), and not again when it is asked for again',
    async (how, accepted) => {
      await bench.fault('create', { type: 'lose_reply', accepted, how });
      await bench.fault('generate', { type: 'lose_reply', accepted, how });
      const [creationKey, imageKey] = [`lost-${how}-${accepted}`, `lost-image-${how}-${accepted}`];
      if (how.startsWith('stall')) deadline = { deadlineMs: 1_500 };
      const both = [
        bench.create({}, { creationKey }),
        bench.generate({}, { creationKey: imageKey }),
      ] as const;
      const [answer, image] = await Promise.all(both);
      expect(answer).toMatchObject({ outcome: 'unconfirmed', sent: true });
      expect(image).toMatchObject({ outcome: 'unconfirmed' });
      expect(await bench.create({}, { creationKey })).toMatchObject({ outcome: 'unconfirmed', sent: false });
      expect(await bench.run('media.reconcileCreate', { creationKey, ...NOTHING_ANNOUNCED })).toMatchObject({
        outcome: 'unconfirmed',
        evidence: { bodyHash: expect.stringMatching(/^[0-9a-f]{64}$/) as string, model: 'cine-1' },
      });
      for (let attempt = 0; attempt < 2; attempt++)
        expect(await bench.generate({}, { creationKey: imageKey })).toMatchObject({ outcome: 'unconfirmed' });
      const { creates, images } = await bench.admin.counters();
      expect(creates).toEqual({ received: 1, accepted: accepted ? 1 : 0 });
      expect(images).toMatchObject({ received: 1, accepted: accepted ? 1 : 0 });
      await bench.admin.releaseStalled();
    },
  );

  test.each([408, 409, 500, 502, 503, 504, 520])(
    '[C4.4a] [C4.4c] is sent once when the service takes it and answers %d',
    async (status) => {
      await bench.fault('create', { type: 'accept_then_status', status });
      const creationKey = `status-${status}`;
      for (let attempt = 0; attempt < 3; attempt++)
        expect(await bench.create({}, { creationKey })).toMatchObject({
          outcome: 'unconfirmed',
          evidence: { cause: `http_${status}`, httpStatus: status },
        });
      expect((await bench.admin.counters()).creates).toEqual({ received: 1, accepted: 1 });
    },
  );

  test.each([307, 308, 302])('[C4.4a] is not sent again by a redirect with %d', async (status) => {
    await bench.fault('create', { type: 'redirect', status, location: '/v1/videos' });
    expect(await bench.create({})).toMatchObject({ outcome: 'unconfirmed' });
    expect(await bench.seen()).toHaveLength(1);
  });

  test.each([
    ['no JSON', { raw: 'ok', contentType: 'application/json' }],
    ['no id', { body: { status: 'queued' } }],
    ['an empty id', { body: { id: '', status: 'queued' } }],
    ['an id that can be in no path', { body: { id: '..', status: 'queued' } }],
    ['a page', { raw: '<html></html>', contentType: 'text/html' }],
  ])('[C4.4c] [C4.6] a 200 with %s proves nothing: unconfirmed, and not sent again', async (_what, reply) => {
    await bench.fault('create', { type: 'accept_then_status', status: 200, ...reply });
    const creationKey = `odd-${_what}`;
    for (let attempt = 0; attempt < 2; attempt++)
      expect(await bench.create({}, { creationKey })).toMatchObject({
        outcome: 'unconfirmed',
        evidence: { httpStatus: 200, replyHash: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
      });
    expect((await bench.admin.counters()).creates).toEqual({ received: 1, accepted: 1 });
  });

  test.each([
    // The others wait for a while for the first one, and then read what stands.
    [200, ['created', 'created', 'created']],
    [4_000, ['created', 'pending', 'pending']],
  ])(
    '[C4.4a] callers with one key at once put one create on the wire (reply after %i ms)',
    async (ms, outcomes) => {
      await bench.fault('create', { type: 'delay', ms });
      const creationKey = `at-once-${ms}`;
      const answers = await Promise.all([1, 2, 3].map(() => bench.create({}, { creationKey })));
      expect(answers.map(({ outcome }) => outcome).sort()).toEqual(outcomes);
      expect(answers.filter(({ sent }) => sent)).toHaveLength(1);
      expect((await bench.admin.counters()).creates).toEqual({ received: 1, accepted: 1 });
      const other = await bench.create({ prompt: 'something else' }, { creationKey });
      expect(other).toMatchObject({ outcome: 'rejected', reason: 'creation_key_conflict', sent: false });
      expect((await bench.admin.counters()).creates.received).toBe(1);
    },
  );

  test('[C4.4a] [C4.4c] a fence excludes its sender for good, in all of its tries, and nobody else', async () => {
    const creationKey = 'fenced';
    const proved = await bench.run('media.reconcileCreate', { creationKey, ...NOTHING_ANNOUNCED });
    expect(proved).toMatchObject({ outcome: 'not_sent', cause: 'fenced', sendAttemptUsed: false });
    const { sender } = NOTHING_ANNOUNCED.trace;
    for (const info of [{}, { attempt: 2 }, scheduledAt(Date.now() + 60_000)])
      expect(await bench.create({}, { creationKey, sender }, info)).toMatchObject({
        outcome: 'not_sent',
        cause: 'fenced',
        sent: false,
      });
    expect(await bench.seen()).toEqual([]);
    expect(await bench.create({}, { creationKey, sender: 'another' })).toMatchObject({ outcome: 'created' });
    expect(await bench.create({}, { creationKey, sender })).toMatchObject({
      outcome: 'created',
      sent: false,
    });
    expect(await bench.seen('create')).toHaveLength(1);
  });

  test('[C4.4a] every create has a connection of its own', async () => {
    for (let create = 0; create < 3; create++) await bench.created();
    const sockets = (await bench.seen('create')).map(({ socketId }) => socketId);
    expect(new Set(sockets).size).toBe(3);
  });
});
