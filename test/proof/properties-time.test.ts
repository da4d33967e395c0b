import fc from 'fast-check';
import { elapsed } from '../../packages/cli/src/shared/progress-view';
import { decideDownload } from '../../src/activities/download-problems';
import { DOWNLOAD_BOUNDS } from '../../src/domain/download';
import { verdictWithoutRecord } from '../../src/domain/end-of-wait';
import { POLL_ERROR_CLASSES } from '../../src/domain/poll-answers';
import { isPollable, PollGroup, wakeAt } from '../../src/domain/poll-cadence';
import {
  beginWatch,
  CREDENTIALS_RETRY_MS,
  MAX_BACKOFF_MS,
  onPollError,
  onRecord,
  onUnchanged,
  watchFacts,
  type WatchState,
} from '../../src/domain/watch-state';
import { meaningOfGet } from '../../src/service/classify-reply';
import { dateMs, parseRetryAfter } from '../../src/service/reply-headers';
import { makeVideoTask } from '../domain/make-video-task';

const NOW = Date.UTC(2026, 0, 1);
const video = makeVideoTask();
const watch = (waitMs = 900_000) =>
  beginWatch({ video, now: NOW, deadlineAt: NOW + waitMs, firstPollAt: NOW });
const random = fc.double({ min: 0, max: 0.999_999, noNaN: true });
const error = fc.constantFrom(...POLL_ERROR_CLASSES);
const seconds = fc.integer({ min: 0, max: 40 * 365 * 86_400 });

describe('Retry-After', () => {
  const value = fc.oneof(
    fc.nat(1_000_000).map(String),
    fc.double({ min: 0, max: 1e6, noNaN: true }).map((one) => one.toFixed(3)),
    seconds.map((one) => new Date(NOW + one * 1000).toUTCString()),
    fc.string({ maxLength: 12 }),
  );
  /** The grammar of RFC 9110 and the decimals that gateways send, read by another way. */
  const reference = (text: string): number | undefined => {
    const trimmed = text.trim();
    if (/^\d+(\.\d+)?$/.test(trimmed)) return Math.ceil(Number.parseFloat(trimmed) * 1000);
    if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(trimmed)) return undefined;
    const at = Date.parse(trimmed);
    return Number.isNaN(at) || new Date(at).toUTCString() !== trimmed ? undefined : Math.max(0, at - NOW);
  };

  it('[C8.7] means what another reader of the grammar says', () => {
    fc.assert(
      fc.property(value, (text) => {
        fc.pre(!/,/.test(text) || reference(text) !== undefined);
        const known = reference(text);
        if (known !== undefined) expect(parseRetryAfter({ 'retry-after': text }, NOW)).toBe(known);
      }),
    );
  });

  it('[C8.7] of several headers the longest counts, in any order and any case', () => {
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 4 }), (texts) => {
        const alone = texts.map((one) => parseRetryAfter({ 'retry-after': one }, NOW));
        const longest = alone.reduce<number | undefined>(
          (most, one) => (one !== undefined && one >= (most ?? 0) ? one : most),
          undefined,
        );
        expect(parseRetryAfter({ 'Retry-After': texts }, NOW)).toBe(longest);
        expect(parseRetryAfter({ 'retry-after': [...texts].reverse() }, NOW)).toBe(longest);
      }),
    );
  });

  it('a date is read to the second, or it is none', () => {
    fc.assert(
      fc.property(seconds, fc.nat(40), fc.nat(25), (offset, cut, letter) => {
        const text = new Date(NOW + offset * 1000).toUTCString();
        expect(dateMs(text, NOW)).toBe(NOW + offset * 1000);
        const broken = `${text.slice(0, cut)}${String.fromCharCode(97 + letter)}${text.slice(cut + 1)}`;
        const at = dateMs(broken, NOW);
        if (at !== undefined)
          expect(new Date(at).toUTCString().slice(5)).toBe(
            new Date(Date.parse(broken)).toUTCString().slice(5),
          );
      }),
    );
  });
});

describe('polls', () => {
  const failure = fc
    .record({ error, retryAfterMs: fc.option(fc.nat(3_600_000), { nil: undefined }) })
    .map((one) => (one.retryAfterMs === undefined ? { error: one.error } : one)) as fc.Arbitrary<{
    error: (typeof POLL_ERROR_CLASSES)[number];
    retryAfterMs?: number;
  }>;

  it('[C8.7] after an error nothing is polled before Retry-After, counted from the answer', () => {
    fc.assert(
      fc.property(failure, random, fc.nat(60_000), (given, jitter, took) => {
        const next = onPollError(watch(), given, NOW, 3_000, jitter, NOW + took);
        const notBefore = NOW + took + (given.retryAfterMs ?? 0);
        if (given.retryAfterMs === undefined) return;
        expect(next.notBefore).toBeGreaterThanOrEqual(notBefore);
        expect(isPollable(next, notBefore - 1)).toBe(false);
      }),
    );
  });

  it('[C8.6] our own backoff grows to a minute at most and never goes below the minimum', () => {
    fc.assert(
      fc.property(
        fc.array(error, { minLength: 1, maxLength: 30 }),
        random,
        fc.integer({ min: 3_000, max: 15_000 }),
        (errors, jitter, minimum) => {
          let state = watch();
          for (const one of errors) {
            state = onPollError(state, { error: one }, NOW, minimum, jitter);
            const delay = state.dueAt - NOW;
            expect(delay).toBeLessThanOrEqual(Math.max(MAX_BACKOFF_MS, CREDENTIALS_RETRY_MS));
            if (delay > 0) expect(delay).toBeGreaterThanOrEqual(Math.min(minimum, CREDENTIALS_RETRY_MS));
          }
        },
      ),
    );
  });

  it('[C8.2] the interval of a group stays inside its band, and two ticks are never closer than the minimum', () => {
    const band = fc
      .tuple(fc.integer({ min: 3, max: 15 }), fc.nat(10))
      .map(([min, more]) => ({ minSeconds: min, maxSeconds: min + more, firstPollSeconds: min }));
    fc.assert(
      fc.property(band, fc.array(random, { minLength: 1, maxLength: 12 }), (profile, jitters) => {
        const group = new PollGroup(profile);
        let state = watch();
        let last = -Infinity;
        for (const jitter of jitters) {
          const now = Math.max(NOW, group.nextWakeAt([{ state }]));
          if (group.beginTick([{ state }], now, jitter).length === 0) break;
          expect(now - last).toBeGreaterThanOrEqual(profile.minSeconds * 1000);
          const { intervalMs } = group.last;
          expect(intervalMs).toBeGreaterThanOrEqual(profile.minSeconds * 1000);
          expect(intervalMs).toBeLessThanOrEqual(profile.maxSeconds * 1000);
          state = onUnchanged(state, now);
          last = now;
        }
      }),
    );
  });

  it('[C2.2.4] no percentage is shown that the last record did not hold', () => {
    fc.assert(
      fc.property(fc.array(fc.option(fc.nat(100)), { minLength: 1, maxLength: 8 }), (values) => {
        let state = watch();
        for (const progress of values) {
          const record = {
            status: 'running',
            phase: 'in_progress' as const,
            ...(progress === null ? {} : { progress }),
          };
          state = onRecord(state, record, 'd', NOW);
          expect(watchFacts(state).progress ?? null).toBe(progress);
        }
      }),
    );
  });

  it('[C3.4] before its deadline no wait ends for want of a record but by three unknown answers over a minute', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(error, fc.nat(90_000)), { maxLength: 12 }), (answers) => {
        const brought = { ...video, source: 'unknown' as const };
        let state: WatchState = { ...watch(3_600_000 * 10), video: brought };
        let now = NOW;
        for (const [one, gap] of answers) {
          now += gap;
          state = onPollError(state, { error: one }, now, 3_000, 0);
          const verdict = verdictWithoutRecord(state, now);
          if (verdict === undefined) continue;
          expect(verdict.kind).toBe('task_unknown');
          expect(state.unknownCount).toBeGreaterThanOrEqual(3);
          expect(now - (state.unknownSince ?? now)).toBeGreaterThanOrEqual(60_000);
        }
      }),
    );
  });

  it('a task wakes at the latest when its deadline and the cadence allow one more poll', () => {
    fc.assert(
      fc.property(fc.nat(900_000), fc.nat(60_000), (tick, due) => {
        const cadence = { lastTickAt: NOW + tick, intervalMs: 4_000, minIntervalMs: 3_000 };
        const state = { ...watch(), dueAt: NOW + due };
        expect(wakeAt(state, cadence)).toBeLessThanOrEqual(
          Math.max(state.deadlineAt, cadence.lastTickAt + 3_000),
        );
      }),
    );
  });

  it('every status of a GET has a meaning, and only 2xx is a record', () => {
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 999 }), (status) => {
        expect(meaningOfGet(status) === 'record').toBe(status >= 200 && status < 300);
        if (status === 401 || status === 403) expect(meaningOfGet(status)).toBe('credentials');
      }),
    );
  });
});

describe('tries of a download', () => {
  const kinds = [
    'missing',
    'unavailable',
    'rate_limited',
    'network',
    'incomplete_file',
    'not_video',
    'credentials',
    'storage',
    'expired',
  ] as const;

  it('[C8.7] none before Retry-After, and none after the last', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...kinds),
        fc.nat(700_000),
        fc.integer({ min: 1, max: 30 }),
        fc.nat(700_000),
        (problem, retryAfterMs, attempt, age) => {
          const decision = decideDownload(
            { kind: problem, message: 'm', retryAfterMs },
            { attempt, elsewhere: 0, windowMs: age, sameFault: 1 },
            DOWNLOAD_BOUNDS,
          );
          if ('end' in decision) return;
          expect(decision.retryInMs).toBeGreaterThanOrEqual(retryAfterMs);
          expect(attempt).toBeLessThan(DOWNLOAD_BOUNDS.maxTries);
          expect(age + decision.retryInMs).toBeLessThanOrEqual(DOWNLOAD_BOUNDS.windowMs);
        },
      ),
    );
  });
});

it('a span is shown to the second, and reads back as what it was', () => {
  fc.assert(
    fc.property(fc.nat(30 * 86_400_000), (ms) => {
      const [, days = '0', hours = '0', minutes, rest] =
        /^(?:(\d+) d )?(?:(\d+):)?(\d+):(\d\d)$/.exec(elapsed(ms)) ?? [];
      const shown = ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(rest);
      expect(shown).toBe(Math.floor(ms / 1000));
    }),
  );
});
