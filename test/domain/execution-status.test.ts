import { isOpen } from '../../src/domain/names';
import { readSources } from '../support/sources';

describe('whether an execution is still open', () => {
  it.each([
    ['RUNNING', true],
    ['PAUSED', true],
    ['COMPLETED', false],
    ['FAILED', false],
    ['CANCELLED', false],
    ['TERMINATED', false],
    ['CONTINUED_AS_NEW', false],
    ['TIMED_OUT', false],
    ['UNKNOWN', false],
  ])('%s: %s', (status, open) => expect(isOpen(status)).toBe(open));

  it('is answered here alone, for the client and every command: who compares with RUNNING takes a paused execution for a closed one', () => {
    const comparing = readSources()
      .filter(({ path }) => /^(?:src\/client|packages\/cli)\b/.test(path))
      .filter(({ text }) => /status[^\n]*[!=]== 'RUNNING'/.test(text));
    expect(comparing).toEqual([]);
  });
});
