import { ROW_OUTCOMES } from '../../src/domain/campaign/results';
import { failureKind, needingPerson, outcomeWords, worstTone } from '../../src/domain/campaign/row';

describe('the tone of outcomes', () => {
  it('of several is the worst, and good of none', () => {
    expect(worstTone([])).toBe('good');
    expect(worstTone(['completed'])).toBe('good');
    expect(worstTone(['completed', 'skipped_budget'])).toBe('wait');
    expect(worstTone(['completed', 'still_running', 'failed'])).toBe('bad');
  });

  it('is good for nothing but a completed call, and the rows to look at are those with a bad one', () => {
    for (const outcome of ROW_OUTCOMES)
      expect([outcome, outcomeWords(outcome).tone === 'good']).toEqual([outcome, outcome === 'completed']);
    const counts = Object.fromEntries(ROW_OUTCOMES.map((outcome) => [outcome, 2]));
    expect(needingPerson(counts)).toBe(2 * 6);
  });

  it('a status that is no outcome is not green', () => {
    expect(outcomeWords('in_progress')).toEqual({ label: 'In progress', tone: 'wait' });
    expect(outcomeWords('constructor').tone).toBe('wait');
    expect(outcomeWords('')).toEqual({ label: '', tone: 'wait' });
  });
});

it.each([
  [{ outcome: 'completed', reason: 'x' }, null],
  [{ outcome: 'failed', errorKind: 'moderation', reason: 'CodeOfTheService' }, 'moderation'],
  [{ outcome: 'failed', reason: 'CodeOfTheService' }, 'unknown'],
  [{ outcome: 'rejected', reason: 'moderation' }, 'moderation'],
  [{ outcome: 'rejected', reason: 'invalid_request', errorKind: 'invalid' }, 'invalid'],
  [{ outcome: 'content_unavailable', reason: 'expired' }, 'expired'],
  [{ outcome: 'skipped_budget' }, null],
])('the kind of %j is %s', (result, kind) => {
  expect(failureKind(result)).toBe(kind);
});
