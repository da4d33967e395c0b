import { heldAnswer } from '../../src/activities/admission';
import {
  RefusalGate,
  type GatedCall,
  type Pass,
  type StandingRefusal,
} from '../../src/activities/refusal-gate';
import { type RecordedAnswer } from '../../src/domain/log-entries';
import { type StandingScope } from '../../src/domain/paid-call';

const WALL = Date.parse('2026-01-01T00:00:00Z');
const wall = (ms: number): string => new Date(WALL + ms).toISOString();

const KEY = {};
const call: GatedCall = {
  call: 'order-1',
  account: 'default@1',
  operation: 'create_video',
  model: 'm',
  key: KEY,
};
const base = { sendAttempt: 0, sent: true, account: 'default@1', estimate: null } as const;
const refused = (standing?: StandingScope): RecordedAnswer => ({
  ...base,
  outcome: 'rejected',
  reason: standing === 'model' ? 'invalid_request' : 'credentials',
  httpStatus: standing === 'model' ? 404 : 401,
  message: 'No.',
  ...(standing === 'model' && { error: { kind: 'invalid', code: 'model_not_found', message: null } }),
  ...(standing === undefined ? {} : { standing }),
});
const busy: RecordedAnswer = {
  ...base,
  outcome: 'refused_for_now',
  httpStatus: 429,
  notBefore: null,
  error: { kind: 'capacity', code: null, message: null },
};

describe('a refusal that stands', () => {
  let now = 0;
  let gate: RefusalGate;
  beforeEach(() => {
    now = 1_000;
    gate = new RefusalGate({ probeMs: 60_000, now: () => now });
    jest.spyOn(Date, 'now').mockReturnValue(WALL);
  });
  afterEach(() => jest.restoreAllMocks());

  const enter = (other: Partial<GatedCall> = {}): Promise<Pass | StandingRefusal> =>
    gate.enter({ ...call, ...other });
  async function pass(other: Partial<GatedCall> = {}): Promise<Pass> {
    const entered = await enter(other);
    if ('probeInMs' in entered) throw new Error('held');
    return entered;
  }
  const isHeld = async (other: Partial<GatedCall> = {}): Promise<boolean> => {
    const entered = await enter(other);
    if ('probeInMs' in entered) return true;
    entered.unused();
    return false;
  };

  it('of an account holds back all of its calls, and no other account', async () => {
    const answer = (await pass()).answered(refused('account'));
    expect(answer).toMatchObject({ heldUntil: wall(60_000) });
    expect(await isHeld({ model: 'another', operation: 'edit_image' })).toBe(true);
    expect(await isHeld({ account: 'studio@1' })).toBe(false);
    now = 2_000;
    expect(await enter()).toEqual({
      scope: 'account',
      reason: 'credentials',
      httpStatus: 401,
      message: 'No.',
      since: wall(0),
      probeInMs: 59_000,
    });
  });

  it.each([3_600_000, -3_600_000])(
    'is tried again in its time when the wall clock steps by %i ms',
    async (ms) => {
      (await pass()).answered(refused('account'));
      jest.spyOn(Date, 'now').mockReturnValue(WALL + ms);
      now = 60_999;
      const held = await enter();
      expect(held).toMatchObject({ probeInMs: 1 });
      expect(heldAnswer({ ...base, sent: false }, held as StandingRefusal, 'm').heldUntil).toBe(wall(ms + 1));
      now = 61_000;
      expect(await isHeld()).toBe(false);
    },
  );

  it('of a model holds back the calls of this model only', async () => {
    (await pass()).answered(refused('model'));
    expect(await isHeld()).toBe(true);
    expect(await isHeld({ model: 'another' })).toBe(false);
  });

  it('[C8.7] a long Retry-After holds back the call that was answer it; others ask again in a quarter of an hour', async () => {
    const notBefore = wall(400 * 86_400_000);
    const answer = (await pass()).answered({ ...refused('account'), notBefore } as RecordedAnswer);
    expect(answer).toMatchObject({ heldUntil: notBefore });
    now = 900_999;
    expect(await isHeld()).toBe(true);
    now = 901_000;
    expect(await isHeld()).toBe(false);
  });

  it('does not wait for ever for one that never tells what came of it', async () => {
    (await pass()).answered(refused('account'));
    now = 61_000;
    await pass();
    now = 1_020_999;
    expect(await isHeld()).toBe(true);
    now = 1_021_000;
    (await pass()).answered(busy);
    expect(await isHeld()).toBe(false);
  });

  it('lets one request a minute ask again: a refusal keeps it closed, anything else opens it', async () => {
    (await pass()).answered(refused('account'));
    now = 61_000;
    const probe = await pass();
    now = 61_500;
    probe.answered(refused('account'));
    expect(await enter()).toMatchObject({ since: wall(0) });
    now = 121_499;
    expect(await isHeld()).toBe(true);
    now = 121_500;
    (await pass()).answered(busy);
    expect(await isHeld()).toBe(false);
  });

  it('is not opened by a request of which nobody knows whether it arrived', async () => {
    (await pass()).answered(refused('account'));
    now = 61_000;
    (await pass()).unused();
    expect(await isHeld()).toBe(true);
  });

  it('[C5.2] stands for the key that was refused, and for no other', async () => {
    (await pass()).answered(refused('account'));
    expect(await isHeld({ key: {} })).toBe(false);
  });

  it('is found out by one: what comes meanwhile listens before it sends', async () => {
    const first = await pass();
    const others = Promise.all(Array.from({ length: 24 }, () => enter()));
    first.answered(refused('account'));
    expect((await others).every((entered) => 'probeInMs' in entered)).toBe(true);
  });

  it.each([
    ['account', 'account default@1 with HTTP 401: No.'],
    ['model', 'account default@1 for model "m" with HTTP 404: No.'],
  ] as const)(
    'of the %s is answer with whose calls it holds back, since when and until when',
    async (scope, whose) => {
      (await pass()).answered(refused(scope));
      const held = await enter();
      const answer = heldAnswer({ ...base, sent: false }, held as StandingRefusal, 'm');
      expect(answer).toMatchObject({ outcome: 'not_sent', sent: false, sendAttemptUsed: false });
      expect(answer.message).toBe(
        `Since ${wall(0)} the service has rejected calls from ${whose} Nothing was sent. From time to time, a single request checks whether calls are still rejected. The next check is at ${wall(60_000)}.`,
      );
    },
  );

  describe('that may be about its request alone', () => {
    const created = { ...base, outcome: 'created' } as unknown as RecordedAnswer;
    const forbidden: RecordedAnswer = {
      ...base,
      outcome: 'rejected',
      reason: 'credentials',
      httpStatus: 403,
      message: 'No.',
      standing: 'account',
    };

    it('[C7.3] holds nobody back, and is final when it comes again after another call was accepted', async () => {
      const first = (await pass({ call: 'bad' })).answered(forbidden);
      expect(first).toMatchObject({ standing: 'account', heldUntil: wall(5_000) });
      now = 1_001;
      (await pass({ call: 'good' })).answered(created);
      now = 6_000;
      const second = (await pass({ call: 'bad' })).answered(forbidden);
      expect(second).toMatchObject({
        reason: 'credentials',
        message: expect.stringMatching(/this request/) as string,
      });
      expect(second).not.toHaveProperty('standing');
      expect(second).not.toHaveProperty('heldUntil');
      expect(await isHeld({ call: 'good' })).toBe(false);
    });

    it('is not final by the acceptance of a call that was sent before it', async () => {
      const early = await pass({ call: 'good' });
      now = 3_001;
      const refusedOnce = await pass({ call: 'bad' });
      refusedOnce.answered(forbidden);
      now = 3_002;
      early.answered(created);
      now = 8_002;
      expect((await pass({ call: 'bad' })).answered(forbidden)).toHaveProperty('standing', 'account');
    });

    it('[C7.3] closes the account when others are refused as well: for a second, and longer with each one', async () => {
      const held = async (call: string): Promise<number> => {
        (await pass({ call })).answered(forbidden);
        const entered = await enter();
        if ('probeInMs' in entered) return entered.probeInMs;
        entered.unused();
        return 0;
      };
      const waits: number[] = [];
      for (const call of 'abcdefghij') {
        now += waits.at(-1) ?? 0;
        waits.push(await held(call));
      }
      expect(waits).toEqual([0, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    });

    it('is found out one by one where nothing is known of the account', async () => {
      const first = await pass({ call: 'a' });
      const others = Array.from({ length: 24 }, (_, call) => enter({ call: String(call) }));
      first.answered(forbidden);
      // One of them asks next, and the others listen to that one.
      const second = (await Promise.race(others)) as Pass;
      second.answered(forbidden);
      const ended = await Promise.all(others);
      expect(ended.filter((entered) => 'probeInMs' in entered)).toHaveLength(23);
    });

    it('is final at the fifth, where the account accepted others and none is left', async () => {
      (await pass({ call: 'good' })).answered(created);
      for (let time = 1; time < 5; time += 1) {
        now += 120_000;
        expect((await pass({ call: 'bad' })).answered(forbidden)).toHaveProperty('standing');
      }
      now += 120_000;
      expect((await pass({ call: 'bad' })).answered(forbidden)).not.toHaveProperty('standing');
    });
  });

  it('a refusal of one request alone closes nothing', async () => {
    (await pass()).answered(refused());
    expect(await isHeld()).toBe(false);
  });
});
