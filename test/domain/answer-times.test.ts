import { byClockOf, givenAt, isoOf } from '../../src/domain/clocks';
import { beginCreate, nextStep } from '../../src/domain/create-once';
import { answers } from './create-answers';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const HOUR = 3_600_000;

describe('the times of an answer', () => {
  it.each([0, HOUR, -HOUR, 400 * 24 * HOUR])(
    '[C8.7] are as far away for a workflow as for the worker, whose clock is wrong by %i ms',
    (ms) => {
      const worker = NOW + ms;
      const at = (laterMs: number) => isoOf(worker + laterMs);
      const refused = { ...answers.refused(0, at(2_000)), heldUntil: at(60_000), sameKeyUntil: at(HOUR) };
      const seen = byClockOf(NOW, givenAt(refused, worker));
      expect(seen).toEqual({
        ...refused,
        notBefore: isoOf(NOW + 2_000),
        heldUntil: isoOf(NOW + 60_000),
        sameKeyUntil: isoOf(NOW + HOUR),
      });
      const context = { now: NOW, random: 0, startLimitMs: HOUR, reconciled: false };
      expect(nextStep(beginCreate('k', NOW), seen, context)).toMatchObject({
        do: 'wait',
        until: NOW + 2_000,
      });
    },
  );

  it('stay as they are without the time of the answer, and an answer without times gets none', () => {
    const refused = answers.refused(0, isoOf(NOW));
    expect(byClockOf(0, refused)).toBe(refused);
    expect(givenAt(answers.refused(0, null), NOW)).toEqual(answers.refused(0, null));
    expect(givenAt(answers.created(0), NOW)).toEqual(answers.created(0));
  });

  it('end where dates end', () => {
    const last = isoOf(Infinity);
    expect(byClockOf(NOW, givenAt(answers.refused(0, last), 0))).toMatchObject({ notBefore: last });
  });
});
