import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { isOpen } from '../../src/domain/execution-status';

const SRC = path.resolve(__dirname, '../../src');

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
    const comparing = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
      .filter((file) => /^(?:client|cli)\b.*\.ts$/.test(file))
      .filter((file) => /status[^\n]*[!=]== 'RUNNING'/.test(readFileSync(path.join(SRC, file), 'utf8')));
    expect(comparing).toEqual([]);
  });
});
