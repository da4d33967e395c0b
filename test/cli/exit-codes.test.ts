import { EXIT, EXIT_MEANINGS, exitCodeOfType } from '../../src/cli/exit-codes';
import { FAILURE_TABLE } from '../../src/domain/failure-table';

describe('exit codes', () => {
  test('every row of the failure table has one of its own words, and none is success or unexpected', () => {
    for (const { type } of FAILURE_TABLE) {
      const code = exitCodeOfType(type);
      expect(EXIT_MEANINGS.map(([known]) => known)).toContain(code);
      expect([EXIT.done, EXIT.unexpected, EXIT.usage]).not.toContain(code);
    }
  });

  test('every code is explained once', () => {
    expect(EXIT_MEANINGS.map(([code]) => code)).toEqual(Object.values(EXIT));
  });

  test.each([
    ['still_running', 75],
    ['failed/moderation', 3],
    ['rejected/moderation', 3],
    ['failed/capacity', 4],
    ['failed/quota', 5],
    ['rejected/invalid_request', 65],
    ['rejected/not_sent', 69],
    ['unconfirmed', 74],
    ['results_lost', 74],
    ['task_unknown', 74],
    ['content_unavailable/not_video', 76],
    ['rejected/credentials', 77],
    ['rejected/account_not_configured', 78],
  ])('%s is %i: scripts rely on it', (type, code) => {
    expect(exitCodeOfType(type)).toBe(code);
  });
});
