import { readinessOf } from '../../src/worker/readiness';

describe('whether a worker can take creates', () => {
  let at = 1_000_000;
  const ready = (check: () => Promise<void>) => {
    let asked = 0;
    const isReady = readinessOf(
      {
        checkWritable: () => {
          asked += 1;
          return check();
        },
      },
      () => at,
    );
    return { isReady, asked: () => asked };
  };

  it('follows its journal, which is asked every ten seconds at most', async () => {
    let isAway = false;
    const { isReady, asked } = ready(async () => {
      if (isAway) throw new Error('the bucket is away');
    });
    expect(await Promise.all([isReady(), isReady()])).toEqual([true, true]);
    isAway = true;
    at += 9_999;
    expect([await isReady(), asked()]).toEqual([true, 1]);
    at += 1;
    expect([await isReady(), asked()]).toEqual([false, 2]);
    isAway = false;
    at += 10_000;
    expect([await isReady(), asked()]).toEqual([true, 3]);
  });

  it('is not ready behind a journal that answers nothing', async () => {
    jest.useFakeTimers();
    try {
      const answer = ready(() => new Promise(() => undefined)).isReady();
      jest.advanceTimersByTime(5_000);
      expect(await answer).toBe(false);
    } finally {
      jest.useRealTimers();
    }
  });
});
