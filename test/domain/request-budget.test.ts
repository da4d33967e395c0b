import { outcomes } from '../../src/domain/outcome';
import { evidence } from '../../src/domain/paid-call';
import { requestBudgetMs } from '../../src/domain/timeouts';
import { answers } from './create-answers';

const SECOND = 1000;

describe('how long a paid request may take', () => {
  it.each([
    ['video', undefined, 60],
    ['image', undefined, 240],
    ['video', {}, 60],
    ['image', {}, 240],
    ['video', { requestSeconds: 62 }, 62],
    ['image', { requestSeconds: 5 }, 5],
  ] as const)('of a %s with the entry %j: %d s', (kind, entry, seconds) => {
    expect(requestBudgetMs(kind, entry)).toBe(seconds * SECOND);
  });

  it.each([
    ['image:1', "(requestSeconds in the model's MEDIA_MODELS entry, 60 by default)"],
    [null, "(requestSeconds in the model's MEDIA_MODELS entry, 240 by default)"],
  ])('a reply that did not come in time names the setting (references %s)', (referenceMode, told) => {
    const of = (cause: string): string => {
      const call = { ...answers.unconfirmed(0), evidence: evidence(cause, { referenceMode }) };
      return outcomes.unconfirmed(call, 'key').message;
    };
    expect(of('timeout_after_send')).toContain(told);
    expect(of('connection_lost_after_send')).not.toContain('requestSeconds');
  });
});
