import { cancelledStep } from '../../src/domain/create-once';
import { NOT_RECORDED } from '../../src/domain/names';
import { answers } from './create-answers';

/** A state of a run before which another one may have bought. */
const AFTER_ANOTHER = { elsewhere: true } as const;

/** What a cancelled run makes of a create that it asked for records only. */
describe('a cancelled run', () => {
  it.each([answers.created(1), answers.unconfirmed(1)])('ends by what is recorded: $outcome', (answer) => {
    expect(cancelledStep(answer, AFTER_ANOTHER)).toEqual({ do: 'settle', answer });
  });

  it.each([
    ['nothing is recorded', answers.notSent(0, { cause: NOT_RECORDED, sendAttemptUsed: false })],
    ['the last send was refused', answers.refused(0)],
    ['the request was refused', answers.rejected(0)],
    ['the key belongs to another request', answers.rejected(0, 'creation_key_conflict')],
  ])('owes nothing when %s', (_, answer) => {
    expect(cancelledStep(answer, AFTER_ANOTHER)).toEqual({ do: 'end', mayBeOwed: false });
  });

  it.each([
    [
      'the journal cannot be read',
      answers.notSent(0, { cause: 'journal_unavailable', sendAttemptUsed: false }),
    ],
    ['there is no journal', answers.notSent(0, { cause: 'no_journal', sendAttemptUsed: false })],
    ['the worker is of a version that cannot tell', answers.notSent(0, { permanent: true })],
    [
      'the worker has no such account',
      answers.notSent(0, { cause: 'account_not_configured', sendAttemptUsed: false }),
    ],
    ['a sender may still be alive', answers.pending(0)],
  ])('leaves it open when %s', (_, answer) => {
    expect(cancelledStep(answer, AFTER_ANOTHER)).toEqual({ do: 'end', mayBeOwed: true });
  });

  it.each([
    ['the journal cannot be read', 'journal_unavailable', false],
    ['there is no journal', 'no_journal', false],
    ['an earlier send may have cost', NOT_RECORDED, true],
  ])('that is the first of its key owes what is known to be owed, when %s', (_, cause, mayBeOwed) => {
    const answer = answers.notSent(0, { cause, sendAttemptUsed: false, ...(mayBeOwed && { mayBeOwed }) });
    expect(cancelledStep(answer, {})).toEqual({ do: 'end', mayBeOwed });
  });
});
