import { certainlyOverAt, isTooLate, recordedEnd, sendWindow } from '../../src/activities/send-window';

const SECOND = 1000;
const HOUR = 3600 * SECOND;

describe('the window of a send', () => {
  const budget = { budgetMs: 300 * SECOND, afterMs: 240 * SECOND };
  const who = { startedAt: 0, startToCloseMs: 1_000 * SECOND, now: () => HOUR };

  it('begins with the intent, however long the preparation took, and gives the request its whole time', () => {
    const window = sendWindow(who, budget, { at: 100 * SECOND, wall: who.now() });
    expect(window).toMatchObject({ sendBy: 110 * SECOND, endsAt: 650 * SECOND });
    expect(certainlyOverAt(window)).toBe(660 * SECOND);
    expect(recordedEnd(window)).toBe(HOUR + 560 * SECOND);
  });

  it('never outlasts the activity', () => {
    const window = sendWindow(who, budget, { at: 695 * SECOND, wall: who.now() });
    expect(window).toMatchObject({ sendBy: 700 * SECOND, endsAt: 1_000 * SECOND });
  });

  it('[C4.4a] is over by either clock: one that was set back does not make it longer, nor does one that stood still', () => {
    const [at, wall] = [performance.now(), Date.now()];
    const recent = { ...who, startedAt: at };
    const since = (ms: number, wallMs: number) =>
      sendWindow(recent, budget, { at: at - ms, wall: wall - wallMs });
    expect(isTooLate(since(0, 0))).toBe(false);
    expect(isTooLate(since(11 * SECOND, -HOUR))).toBe(true);
    expect(isTooLate(since(0, HOUR))).toBe(true);
  });
});
