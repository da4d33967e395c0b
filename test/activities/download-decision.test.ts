import { type Info } from '@temporalio/activity';
import fc from 'fast-check';
import {
  decideDownload,
  type DownloadState,
  problemOf,
  reasonOf,
  worstOf,
} from '../../src/activities/download-problems';
import { isShutdown, tryBudget } from '../../src/activities/download-video';
import { DOWNLOAD_BOUNDS, type DownloadProblem } from '../../src/domain/download';

const state: DownloadState = { attempt: 1, elsewhere: 0, windowMs: 0, sameFault: 1 };
const decide = (problem: Partial<DownloadProblem>, at: Partial<DownloadState> = {}) =>
  decideDownload({ kind: 'missing', message: 'm', ...problem }, { ...state, ...at }, DOWNLOAD_BOUNDS);

const kinds: DownloadProblem['kind'][] = [
  'missing',
  'expired',
  'credentials',
  'account_not_configured',
  'rate_limited',
  'unavailable',
  'network',
  'blocked',
  'not_video',
  'incomplete_file',
  'no_picture',
  'too_large',
  'storage',
];
/** A worker without the account asks nobody, and another one gets its turn for as long as the server allows. */
const asked = kinds.filter((kind) => kind !== 'account_not_configured');

describe('whether and when to try again', () => {
  it.each([
    ['the first time', {}, {}, { retryInMs: 4_000 }],
    ['later', {}, { attempt: 4 }, { retryInMs: 32_000 }],
    ['much later', {}, { attempt: 15 }, { retryInMs: 60_000 }],
    ['for credentials', { kind: 'credentials' }, {}, { retryInMs: 60_000 }],
    ['the last try', {}, { attempt: 20 }, { end: true }],
    ['the last try of the policy', {}, { attempt: 3, policyTries: 3 }, { end: true }],
    ['without the account', { kind: 'account_not_configured' }, { elsewhere: 1 }, { retryInMs: 4_000 }],
    [
      'without the account again and again, for hours',
      { kind: 'account_not_configured' },
      { attempt: 500, elsewhere: 500, windowMs: 9_000_000 },
      { retryInMs: 16_000 },
    ],
    [
      'after tries that met workers without the account',
      {},
      { attempt: 24, elsewhere: 20 },
      { retryInMs: 32_000 },
    ],
    [
      'without the account, as long as the next try has time',
      { kind: 'account_not_configured' },
      { elsewhere: 1, leftMs: 34_000 },
      { retryInMs: 4_000 },
    ],
    [
      'without the account, when it has none',
      { kind: 'account_not_configured' },
      { elsewhere: 1, leftMs: 33_999 },
      { end: true },
    ],
    [
      'without the account, while the policy has tries',
      { kind: 'account_not_configured' },
      { elsewhere: 2, attempt: 2, policyTries: 3 },
      { retryInMs: 8_000 },
    ],
    [
      'without the account, with the last try of the policy',
      { kind: 'account_not_configured' },
      { elsewhere: 3, attempt: 3, policyTries: 3 },
      { end: true },
    ],
    ['the end of the window', {}, { windowMs: 596_001 }, { end: true }],
    ['the last moment of the window', {}, { windowMs: 596_000 }, { retryInMs: 4_000 }],
    ['before the server ends it', {}, { leftMs: 33_999 }, { end: true }],
    ['as long as the next try has time', {}, { leftMs: 34_000 }, { retryInMs: 4_000 }],
    ['a longer Retry-After', { retryAfterMs: 99_000 }, {}, { retryInMs: 99_000 }],
    ['a shorter Retry-After', { retryAfterMs: 1 }, {}, { retryInMs: 4_000 }],
    ['a Retry-After that does not fit', { retryAfterMs: 600_001 }, {}, { end: true }],
    ['a refused address', { kind: 'blocked' }, {}, { end: true }],
    ['a body that is too large', { kind: 'too_large' }, {}, { end: true }],
    ['a damaged file once', { kind: 'incomplete_file' }, {}, { retryInMs: 4_000 }],
    ['a damaged file for the third time', { kind: 'incomplete_file' }, { sameFault: 3 }, { end: true }],
    ['a file without pictures for the third time', { kind: 'no_picture' }, { sameFault: 3 }, { end: true }],
    ['an expired link for the third time', { kind: 'expired' }, { sameFault: 3 }, { end: true }],
    [
      'a place that is away, later',
      { kind: 'unavailable' },
      { attempt: 20, lives: true },
      { retryInMs: 300_000 },
    ],
    [
      'its last moment',
      { kind: 'network' },
      { attempt: 319, lives: true, windowMs: 86_100_000 },
      { retryInMs: 300_000 },
    ],
    ['its end in time', { kind: 'network' }, { lives: true, windowMs: 86_100_001 }, { end: true }],
    ['its end in tries', { kind: 'network' }, { attempt: 320, lives: true }, { end: true }],
    ['its policy', { kind: 'network' }, { attempt: 3, policyTries: 3, lives: true }, { end: true }],
    ['a 404 while the record says completed', {}, { attempt: 20, lives: true }, { end: true }],
    ['missing content for the third time', {}, { sameFault: 3 }, { retryInMs: 4_000 }],
  ] as const)('%s', (_name, problem, at, expected) => {
    expect(decide(problem, at)).toEqual(expected);
  });

  it('[C8.6] [C8.7] always ends, and never tries before Retry-After or faster than a poll', () => {
    fc.assert(
      fc.property(fc.constantFrom(...asked), fc.option(fc.nat({ max: 200_000 })), (kind, retryAfterMs) => {
        let windowMs = 0;
        for (let attempt = 1; ; attempt++) {
          const problem = { kind, message: 'm', ...(retryAfterMs === null ? {} : { retryAfterMs }) };
          const decision = decideDownload(
            problem,
            { attempt, elsewhere: 0, windowMs, sameFault: attempt },
            DOWNLOAD_BOUNDS,
          );
          if ('end' in decision) break;
          expect(decision.retryInMs).toBeGreaterThanOrEqual(Math.max(3_000, retryAfterMs ?? 0));
          windowMs += decision.retryInMs;
          expect(attempt).toBeLessThan(20);
        }
        expect(windowMs).toBeLessThanOrEqual(600_000);
      }),
    );
  });
});

it.each([
  [2, 1],
  [19_999, 9_999.5],
  [20_001, 10_001],
  [60_000, 50_000],
  [1_809_999, 1_799_999],
  [2_700_000, 1_800_000],
])('of %i ms that the server gives an attempt, its tries take %d', (startToCloseTimeoutMs, budget) => {
  expect(tryBudget({ startToCloseTimeoutMs } as Info, DOWNLOAD_BOUNDS)).toBe(budget);
});

it.each([
  [true, new Error('WORKER_SHUTDOWN'), true],
  [false, new Error('WORKER_SHUTDOWN'), false],
  [true, new Error('CANCELLED'), false],
  [true, undefined, false],
])('an end (%j) because of %p is a shutdown of the worker: %j', (aborted, reason, expected) => {
  expect(isShutdown({ aborted, reason } as AbortSignal)).toBe(expected);
});

describe('what a refusal means', () => {
  const refused = (status: number, origin: 'service' | 'other', code: string | null = null) =>
    problemOf({ kind: 'refused', status, origin, error: { kind: 'unknown', code, message: null } }).kind;

  it.each([
    [400, 'service', 'missing'],
    [404, 'service', 'missing'],
    [409, 'service', 'missing'],
    [422, 'service', 'missing'],
    [401, 'service', 'credentials'],
    [403, 'service', 'credentials'],
    [401, 'other', 'expired'],
    [403, 'other', 'expired'],
    [404, 'other', 'expired'],
    [410, 'service', 'expired'],
    [408, 'service', 'unavailable'],
    [425, 'service', 'unavailable'],
    [429, 'other', 'rate_limited'],
    [500, 'service', 'unavailable'],
    [502, 'service', 'unavailable'],
    [503, 'other', 'unavailable'],
  ] as const)('%i of the %s origin is %s', (status, origin, kind) => {
    expect(refused(status, origin)).toBe(kind);
  });

  it('an error that speaks of expiry is one, unless the server is merely down', () => {
    expect(refused(404, 'service', 'file_expired')).toBe('expired');
    expect(refused(403, 'service', 'ExpiredToken')).toBe('expired');
    expect(refused(503, 'service', 'expired')).toBe('unavailable');
  });

  it('is total, and shows nothing of what the service wrote', () => {
    fc.assert(
      fc.property(
        // What a part of a file is said to be, our client writes: no text of a service gets there.
        fc.integer({ min: 100, max: 999 }).filter((status) => status !== 206),
        fc.constantFrom('service', 'other'),
        (status, origin) => {
          const problem = problemOf({
            kind: 'refused',
            status,
            origin,
            error: { kind: 'unknown', code: 'code-of-service', message: 'words of the service' },
          });
          expect(kinds).toContain(problem.kind);
          expect(reasonOf(problem.kind)).toBeTruthy();
          expect(problem.message).not.toMatch(/of the? ?service$|words of/);
        },
      ),
    );
  });
});

it('the most telling problem of a try decides, with the longest wait and the kept bytes', () => {
  const rejected = { uri: 'artifact:sha256/0', mediaType: 'x', bytes: 1, sha256: '0' };
  expect(
    worstOf([
      { kind: 'missing', message: 'a', httpStatus: 404, retryAfterMs: 5 },
      { kind: 'unavailable', message: 'b', retryAfterMs: 2, rejected },
    ]),
  ).toEqual({ kind: 'unavailable', message: 'b', retryAfterMs: 5, rejected });
  expect(
    worstOf([
      { kind: 'blocked', message: 'a' },
      { kind: 'missing', message: 'b' },
    ]).kind,
  ).toBe('blocked');
  expect(
    worstOf([
      { kind: 'blocked', message: 'a' },
      { kind: 'network', message: 'b' },
    ]).kind,
  ).toBe('network');
});
