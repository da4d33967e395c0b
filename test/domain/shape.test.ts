import { msToNumber, type Duration } from '@temporalio/common/lib/time';
import fc from 'fast-check';
import {
  batchInputCheck,
  batchOrdersCheck,
  batchReportCheck,
} from '../../src/domain/campaign/batch-messages';
import { UPDATE_CHECKS } from '../../src/domain/campaign/campaign-state';
import { CAMPAIGN_SHAPE } from '../../src/domain/campaign/plan';
import { NO_MONEY } from '../../src/domain/campaign/results';
import { messageOf, milliseconds, type Shape, shapeIssue, text, whole } from '../../src/domain/shape';
import { validateRequest } from '../../src/domain/validate-request';
import { LEAST_POLL_SECONDS, storedTaskCheck } from '../../src/domain/video-task';
import { beginWatch } from '../../src/domain/watch-state';
import { joinedWatchCheck, leavingCheck, WATCH_VIDEOS_SHAPE } from '../../src/domain/watcher';
import { AWAIT_VIDEO_SHAPE, GENERATE_VIDEO_SHAPE } from '../../src/domain/workflow-inputs';
import { ODD_VALUES, ORDERS, placesOf, withValue } from '../support/odd-values';
import { makeVideoTask } from './make-video-task';

describe('unknown fields', () => {
  it.each<[given: object, field: string, near: string]>([
    [{ creation_key: 'k' }, 'creation_key', 'Did you mean creationKey?'],
    [{ request: {}, policy: { on_429: 'fail' } }, 'policy.on_429', 'Did you mean on429?'],
    [
      { request: {}, queues: { uploads: 'q' } },
      'queues.uploads',
      'Known fields: create, poll, download, image.',
    ],
    [{ constructor: 1 }, 'constructor', 'Known fields:'],
    [JSON.parse('{"__proto__": 1}') as object, '__proto__', 'Known fields:'],
    [{ 'creation\u200bKey': 'k' }, 'creation?Key', 'invisible characters: U+200B at character 9.'],
  ])('%j: names %s', (given, field, near) => {
    expect(shapeIssue(given, GENERATE_VIDEO_SHAPE)).toMatchObject({
      field,
      message: expect.stringContaining(near) as string,
    });
  });

  it('an undefined field is absent, and what is inside of a request is checked elsewhere', () => {
    const given = { request: { anything: 1 }, creation_key: undefined, policy: undefined };
    expect(shapeIssue(given, GENERATE_VIDEO_SHAPE)).toBeUndefined();
  });

  it('never throws, and shows names of others short and on one line', () => {
    fc.assert(
      fc.property(fc.anything(), fc.string({ maxLength: 300, unit: 'binary' }), (value, name) => {
        shapeIssue(value, GENERATE_VIDEO_SHAPE);
        const issue = shapeIssue({ [name]: 1 }, {});
        expect(issue?.field).toMatch(/^[\w.$@[\]?-]{0,60}$/);
      }),
    );
  });

  it('a request with two mistakes names the field first: what is missing may be there under it', () => {
    const request = { modell: 'cine-1', prompt: 'a kite' } as never;
    expect(validateRequest({ operation: 'create_video', request })[0]).toMatchObject({
      field: 'request.modell',
      message: expect.stringContaining('Did you mean model?') as string,
    });
  });

  it('a message of our own may have more of them: its sender may be newer', () => {
    const check = messageOf<{ readonly n: number }>({ n: whole(0) });
    expect(check({ n: 1, since: 'the next release' }, 'orders')).toBeUndefined();
    expect(check({ n: '1' }, 'orders')).toMatchObject({ field: 'orders.n' });
  });
});

describe('values', () => {
  const video = makeVideoTask();

  const refused: readonly [shape: Shape, given: object, message: string][] = [
    [AWAIT_VIDEO_SHAPE, {}, 'video must be an object.'],
    [AWAIT_VIDEO_SHAPE, { video: { taskId: '..' } }, 'video.taskId must be the id of a task at the service'],
    [AWAIT_VIDEO_SHAPE, { video: { ...video, polling: null } }, 'video.polling must be an object.'],
    [
      AWAIT_VIDEO_SHAPE,
      { video: { ...video, polling: {} } },
      'video.polling.minSeconds must be a number from 3 to 86400. It is missing.',
    ],
    [
      AWAIT_VIDEO_SHAPE,
      { video: { ...video, polling: { ...video.polling, minSeconds: 0.05 } } },
      'video.polling.minSeconds must be a number from 3 to 86400.',
    ],
    [
      AWAIT_VIDEO_SHAPE,
      { video: { ...video, polling: { ...video.polling, minSeconds: 9 } } },
      'video.polling must be a profile whose minSeconds does not exceed maxSeconds.',
    ],
    [AWAIT_VIDEO_SHAPE, { video, carried: {} }, 'carried must be omitted: only continue-as-new sets it.'],
    [
      GENERATE_VIDEO_SHAPE,
      { request: {}, waitFor: '15 minuets' },
      'waitFor must be a duration such as "15m"',
    ],
    [
      GENERATE_VIDEO_SHAPE,
      { request: {}, queues: { poll: '' } },
      'queues.poll must be a string of 1 to 1000 characters.',
    ],
    [GENERATE_VIDEO_SHAPE, { request: {}, polling: 'both' }, 'polling must be one of own, shared.'],
    [
      CAMPAIGN_SHAPE,
      { manifest: { source: { file: 'm' } }, concurrency: 0 },
      'concurrency must be a whole number from 1',
    ],
    [CAMPAIGN_SHAPE, { manifest: { source: null } }, 'manifest.source must be an object.'],
    [
      CAMPAIGN_SHAPE,
      { manifest: { source: { file: 'm' } }, select: { rows: 'again', outcomes: ['lost'] } },
      'select.outcomes[0] must be one of completed, failed',
    ],
  ];

  it.each(refused.map(([shape, given, message]) => [message, shape, given] as const))(
    '%s',
    (message, shape, given) => {
      expect(shapeIssue(given, shape)?.message).toContain(message);
    },
  );

  it('no message repeats a value: what was given may be a prompt, a key or an address', () => {
    const secret = 'sk-secret-0123456789';
    for (const shape of [
      GENERATE_VIDEO_SHAPE,
      AWAIT_VIDEO_SHAPE,
      CAMPAIGN_SHAPE,
      WATCH_VIDEOS_SHAPE,
    ] as Shape[])
      for (const [field, check] of Object.entries(shape))
        for (const value of [secret, [secret], { [field]: secret }, { rows: secret }])
          if (check !== true) expect(JSON.stringify(check(value, field) ?? null)).not.toContain(secret);
  });

  it('the facts of every video can be stored and handed back, and those that an untyped caller keeps of them', () => {
    expect(storedTaskCheck(video, 'video')).toBeUndefined();
    expect(storedTaskCheck({ taskId: 't' }, 'video')).toBeUndefined();
    expect(storedTaskCheck({ taskId: 't', account: 'a' }, 'video')).toBeUndefined();
  });

  it('polling is never faster than the contract allows', () => {
    expect(LEAST_POLL_SECONDS).toBe(3);
  });
});

describe('messages', () => {
  const state = beginWatch({ video: makeVideoTask(), now: 1, deadlineAt: 2, firstPollAt: 1 });
  const money = NO_MONEY;
  const rows = [{ index: 'a'.repeat(64), page: 0, generation: 0, size: 2, rows: '3' }];
  const report = {
    campaignRun: 'run',
    batch: 0,
    n: 1,
    inFlight: 1,
    settling: 1,
    waiting: 0,
    granted: null,
    taken: 0,
    needs: null,
    ended: rows,
    results: {
      segments: ['a'.repeat(64)],
      counts: { completed: 1 },
      replaced: {},
      money,
      cheapestSkipped: null,
    },
    held: { why: 'no money', until: 1, reason: null, account: null },
    sample: [{ key: 'one', phase: 'watching', taskId: 't', status: null, since: '2026-11-25T10:00:00Z' }],
    limits: { 'default@00000000 cine-1': 0.5 },
  };
  const queues = { create: 'q', poll: 'q', download: 'q', image: 'q' };
  const settings = { waitForMs: 1, maxAttempts: 1, queues, eventsPerRun: 1 };
  const join = { waiter: { workflowId: 'w', runId: 'r', activityId: '1', takesFile: true }, state };
  const batch = { campaign: 'c', campaignRun: 'run', batch: 0, rows, settings, orders: ORDERS, limits: {} };
  const by = { by: 'me', reason: 'seen' };
  const decision = { key: 'one', creationKey: 'k', sendId: 'n', ...by };

  const whole: readonly (readonly [name: string, check: typeof joinedWatchCheck, message: unknown])[] = [
    ['watch_join', joinedWatchCheck, join],
    ['watch_leave', leavingCheck, { workflowId: 'w', runId: 'r' }],
    ['campaign_orders', batchOrdersCheck, ORDERS],
    ['campaign_report', batchReportCheck, report],
    ['campaignBatch', batchInputCheck, batch],
    ['setConcurrency', UPDATE_CHECKS.setConcurrency, { concurrency: 3 }],
    ['raiseBudget', UPDATE_CHECKS.raiseBudget, { budget: { microUnits: 1, currency: 'USD' } }],
    [
      'resumeRows',
      UPDATE_CHECKS.resumeRows,
      { select: { rows: 'again', outcomes: ['failed'], keys: ['one'] } },
    ],
    ['adopt', UPDATE_CHECKS.adopt, { ...decision, taskId: 't' }],
    ['declareLost', UPDATE_CHECKS.declareLost, decision],
  ] as never;

  describe.each(whole)('%s', (_name, check, message) => {
    it('is accepted whole', () => {
      expect(check(message, 'input')).toBeUndefined();
    });

    it('is refused with any odd value in its place, and with one in the place of any field, or without it', () => {
      for (const odd of ODD_VALUES) expect(check(odd, 'input')).toBeDefined();
      for (const [place, value] of placesOf(message))
        for (const odd of [undefined, {}, [], [{}], { a: null }, NaN, Infinity, Symbol('odd'), () => 1])
          if (kindOf(odd) !== kindOf(value) && !(odd === undefined && MAY_BE_ABSENT.has(place.at(-1) ?? '')))
            expect([place, check(withValue(message, place, odd), 'input')]).not.toEqual([place, undefined]);
    });
  });

  /** Fields that the type of the message has with a question mark. */
  const MAY_BE_ABSENT = new Set([
    'rows',
    'takesFile',
    'keys',
    'completed',
    'default@00000000 cine-1',
    'outcomes',
  ]);

  it('a text is only as long as its field allows', () => {
    expect(text(3)('abcd', 'code')).toEqual({
      field: 'code',
      message: 'code must be a string of at most 3 characters.',
    });
  });
});

describe('durations', () => {
  it('are read as Temporal reads them, from zero to ten years', () => {
    const unit = fc.constantFrom(
      '',
      'ms',
      'msecs',
      's',
      'secs',
      'minute',
      'm',
      'h',
      'hours',
      'd',
      'w',
      'y',
      'yrs',
      'x',
    );
    const durations = fc
      .tuple(fc.double({ min: 0, max: 1e6, noNaN: true }), fc.constantFrom('', ' ', '  '), unit)
      .map(([value, space, name]) => `${value.toFixed(3)}${space}${name}`);
    fc.assert(
      fc.property(fc.oneof(durations, fc.string(), fc.double(), fc.jsonValue()), (given) => {
        const ms = milliseconds(given);
        const theirs = temporalMs(given);
        if (ms !== undefined) expect(ms).toBe(Math.round(theirs));
        else expect(theirs >= 0 && theirs < 10 * 365 * 86_400_000).toBe(false);
      }),
    );
  });
});

function temporalMs(given: unknown): number {
  try {
    return msToNumber(given as Duration);
  } catch {
    return NaN;
  }
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? 'list' : typeof value;
}
