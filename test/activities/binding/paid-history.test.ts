import { mayHaveLeft } from '../../../src/activities/binding/paid-history';
import { answers } from '../../domain/create-answers';

/** What a history shows of a create whose answer was not written to the journal. */
const pending = (answer?: object) => ({
  outcome: 'pending',
  ...(answer !== undefined && { unrecorded: { nonce: 'ours', answer: { ...answer } } }),
});

describe('a call that a rebind finds in a history', () => {
  it('[C4.4a] is kept when its own answer was not recorded, because it may have been accepted', () => {
    expect(mayHaveLeft(pending(answers.unconfirmed(0)), false)).toBe(true);
  });

  it('is not kept when the unrecorded answer is a refusal, or when only another sender is awaited', () => {
    expect(mayHaveLeft(pending(answers.refused(0)), false)).toBe(false);
    expect(mayHaveLeft(pending(), true)).toBe(false);
  });

  it('is kept without an answer where a worker may have started it', () => {
    expect(mayHaveLeft(null, true)).toBe(true);
    expect(mayHaveLeft(null, false)).toBe(false);
  });
});
