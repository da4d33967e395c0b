import {
  isBehind,
  isRefusal,
  isUndecided,
  mayBeOwed,
  mayHaveCost,
  type RecordedAnswer,
  type Resolution,
  type SendAttemptView,
  wasCharged,
} from '../../src/domain/journal';
import { claimIntent } from '../activities/claim-intent';
import { answers } from './create-answers';

const NOTHING: SendAttemptView = { claim: null, outcome: null };
const FENCED: SendAttemptView = { claim: { v: 1, kind: 'fence', nonce: 'f', at: '' }, outcome: null };
const SENT: SendAttemptView = { claim: claimIntent(), outcome: null };
const ended = (answer: RecordedAnswer): SendAttemptView => ({
  claim: claimIntent(),
  outcome: { v: 1, nonce: 'ours', at: '', answer },
});
const as = (outcome: string): RecordedAnswer =>
  ({ ...answers.unconfirmed(0), outcome }) as unknown as RecordedAnswer;
const decided = (
  view: SendAttemptView,
  decision: Resolution['decision'],
  answer: Resolution['answer'],
): SendAttemptView => ({
  ...view,
  resolution: { v: 1, decision, by: 'ada', reason: 'r', at: '', answer },
});
const sentAgain = (view: SendAttemptView) => decided(view, 'resubmit', null);
const adopted = (view: SendAttemptView) => decided(view, 'adopt', answers.created(0));
const givenUp = (view: SendAttemptView) => decided(view, 'declareLost', answers.rejected(0, 'declared_lost'));
/** The service read the request, and refused it. */
const validated = (reason: 'moderation' | 'invalid_request' | 'quota') =>
  ended({ ...answers.rejected(0, reason), httpStatus: 400 });
/** Our own check refused it: the service never saw it. */
const unseen = ended(answers.rejected(0, 'invalid_request'));

interface Cost {
  readonly mayHaveCost: boolean;
  readonly wasCharged: boolean;
  readonly mayBeOwed: boolean;
}
const costOf = (view: SendAttemptView): Cost => ({
  mayHaveCost: mayHaveCost(view),
  wasCharged: wasCharged(view),
  mayBeOwed: mayBeOwed(view),
});
const ALL = { mayHaveCost: true, wasCharged: true, mayBeOwed: true };
const NONE = { mayHaveCost: false, wasCharged: false, mayBeOwed: false };

describe('what a send attempt may have cost', () => {
  it.each<[string, SendAttemptView]>([
    ['a created video', ended(answers.created(0))],
    ['completed images', ended(as('completed'))],
    // A claim may be lost with a disk; what was bought stays bought.
    ['a created video whose intent is lost', { ...ended(answers.created(0)), claim: null }],
    ['an intent without an outcome', SENT],
    ['an unconfirmed call', ended(answers.unconfirmed(0))],
    ['images that were lost', ended(as('results_lost'))],
    ['an unconfirmed call that is sent again', sentAgain(ended(answers.unconfirmed(0)))],
    ['an intent whose task was found', adopted(SENT)],
    ['a created video that was given up before', givenUp(ended(answers.created(0)))],
  ])('%s counts in full', (_, view) => {
    expect(costOf(view)).toEqual(ALL);
  });

  it.each<[string, SendAttemptView]>([
    ['nothing at all', NOTHING],
    ['a fence', FENCED],
    ['an unconfirmed outcome of nobody', { ...ended(answers.unconfirmed(0)), claim: null }],
    ['a call that was not sent', ended(answers.notSent(0))],
    ['a refusal for now', ended(answers.refused(0))],
    ['a refusal of the account', validated('quota')],
    ['a refusal by our own check', unseen],
    [
      'a refusal of everything that the account asks for',
      ended({ ...answers.rejected(0), httpStatus: 400, standing: 'account' }),
    ],
    ['a refusal that came after it was sent again', sentAgain(ended(answers.notSent(0)))],
  ])('%s counts for nothing', (_, view) => {
    expect(costOf(view)).toEqual(NONE);
  });

  it.each(['moderation', 'invalid_request'] as const)(
    '[C7.10] a request that the service refused for %s bought nothing, but its validation may be billed',
    (reason) => {
      expect(costOf(validated(reason))).toEqual({ mayHaveCost: false, wasCharged: true, mayBeOwed: true });
    },
  );

  it('[C4.4c] what a person declared lost costs no more, although it was charged', () => {
    for (const view of [SENT, ended(answers.unconfirmed(0)), ended(as('results_lost'))])
      expect(costOf(givenUp(view))).toEqual({ mayHaveCost: false, wasCharged: true, mayBeOwed: false });
  });
});

describe('whether a person is asked about a send attempt', () => {
  it.each<[string, SendAttemptView, boolean]>([
    ['an intent without an outcome', SENT, true],
    ['an unconfirmed call', ended(answers.unconfirmed(0)), true],
    ['one that is decided', givenUp(SENT), false],
    ['one that is sent again', sentAgain(SENT), false],
    ['one whose decision was read as none', { ...SENT, resolution: null }, true],
    ['a created video', ended(answers.created(0)), false],
    ['a fence', FENCED, false],
    ['nothing at all', NOTHING, false],
  ])('%s', (_, view, expected) => {
    expect(isUndecided(view)).toBe(expected);
  });
});

describe('whether a workflow that begins later has this send attempt behind it', () => {
  const LATER = new Date(8e12).toISOString();
  const NOW = 8_000;
  const theirs = (at: number): SendAttemptView => ({
    claim: claimIntent({ workflowId: 'another' }),
    outcome: { v: 1, nonce: 'ours', at: new Date(at).toISOString(), answer: answers.refused(0, LATER) },
  });

  it.each<[string, SendAttemptView, boolean]>([
    ['nothing at all', NOTHING, true],
    ['a fence', FENCED, true],
    ['an outcome whose claim is lost', { ...ended(answers.created(0)), claim: null }, true],
    ['a call that was not sent', ended(answers.notSent(0)), true],
    ['a refusal, though its Retry-After is not over', ended(answers.refused(0, LATER)), true],
    ['one of another workflow, whose Retry-After is not over', theirs(NOW), false],
    ['the same, by a clock that is ahead', theirs(NOW + 1), true],
    ['a refusal for good', ended(answers.rejected(0)), true],
    ['a created video', ended(answers.created(0)), false],
    ['an unconfirmed call', ended(answers.unconfirmed(0)), false],
    ['a call that is sent again', sentAgain(ended(answers.unconfirmed(0))), true],
    ['an adopted task', adopted(SENT), false],
    ['a call that was declared lost', givenUp(SENT), false],
    ['a refusal that came after the call was declared lost', givenUp(ended(answers.notSent(0))), false],
    ['its own send without an outcome', SENT, true],
    ['what stands in for a send of its own', { ...SENT, claim: claimIntent({ bodyHash: '' }) }, false],
    ['the send of another workflow', { ...SENT, claim: claimIntent({ workflowId: 'another' }) }, false],
  ])('%s', (_, view, expected) => {
    expect(isBehind(view, { workflowId: 'wf', now: NOW })).toBe(expected);
  });
});

describe('whether an answer proves that nothing was accepted', () => {
  const NOW = 8_000;
  const at = (ms: number) => new Date(ms).toISOString();
  const waiting = (answer: RecordedAnswer) => ({ ...answer, notBefore: at(NOW + 1) }) as RecordedAnswer;

  it.each<[string, RecordedAnswer, boolean]>([
    ['a call that was not sent', answers.notSent(0), true],
    ['a call that was not sent, whatever it waits for', waiting(answers.notSent(0)), true],
    ['a refusal for now', answers.refused(0), true],
    ['a refusal for good', answers.rejected(0), true],
    ['a refusal whose Retry-After is over', answers.refused(0, at(NOW)), true],
    ['a refusal whose Retry-After is not over', answers.refused(0, at(NOW + 1)), false],
    ['a refusal for good whose Retry-After is not over', waiting(answers.rejected(0)), false],
    ['a created video', answers.created(0), false],
    ['completed images', as('completed'), false],
    ['an unconfirmed call', answers.unconfirmed(0), false],
    ['images that were lost', as('results_lost'), false],
    ['an outcome that this version does not know', as('unheard_of'), false],
  ])('%s', (_, answer, expected) => {
    expect(isRefusal(answer, NOW)).toBe(expected);
  });
});
