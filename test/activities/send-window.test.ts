import { certainlyOverAt, sendWindow } from '../../src/activities/send-window';

const SECOND = 1000;

describe('the window of a send', () => {
  const who = { startedAt: 0, startToCloseMs: 1_000 * SECOND };

  it('begins with the intent, however long the preparation took, and gives the request its whole time', () => {
    const window = sendWindow(who, 100 * SECOND, { budgetMs: 300 * SECOND, afterMs: 240 * SECOND });
    expect(window).toMatchObject({ sendBy: 110 * SECOND, endsAt: 650 * SECOND });
    expect(certainlyOverAt(window)).toBe(660 * SECOND);
  });

  it('never outlasts the activity', () => {
    const window = sendWindow(who, 695 * SECOND, { budgetMs: 300 * SECOND, afterMs: 240 * SECOND });
    expect(window).toMatchObject({ sendBy: 700 * SECOND, endsAt: 1_000 * SECOND });
  });
});
