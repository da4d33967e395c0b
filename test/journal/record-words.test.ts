import {
  JournalRecordError,
  parseIdentity,
  parseIndexEntry,
  parseOutcome,
  parsePlace,
  parseResolution,
  parseClaim,
} from '../../src/journal/records';
import { makeVideoTask } from '../domain/make-video-task';

const AT = '2026-01-01T00:00:00Z';
const video = makeVideoTask({ taskId: 't1' });
const outcome = (answer: object) => JSON.stringify({ v: 1, nonce: 'n', at: AT, answer });
const resolution = (own: object) =>
  JSON.stringify({
    v: 1,
    decision: 'resubmit',
    by: 'ann',
    reason: 'r',
    at: AT,
    answer: null,
    ...own,
  });

const WORDS = [
  'completed',
  'results_lost',
  'rejected',
  'refused_for_now',
  'not_sent',
  'unconfirmed',
  'created',
];

describe('an outcome', () => {
  it.each(WORDS)('%s is read, with its task', (word) => {
    const answer = { outcome: word, sendAttempt: 0, video };
    expect(parseOutcome(outcome(answer)).answer).toEqual(answer);
  });

  it.each(WORDS.slice(0, -1))('%s needs no task', (word) => {
    expect(parseOutcome(outcome({ outcome: word, sendAttempt: 0 })).answer.outcome).toBe(word);
  });
});

describe('a decision', () => {
  it.each([
    ['adopt', { outcome: 'created', sendAttempt: 0, video }],
    ['declareLost', { outcome: 'rejected', sendAttempt: 0 }],
    ['resubmit', null],
  ])('%s is read', (decision, answer) => {
    expect(parseResolution(resolution({ decision, answer }))).toMatchObject({ decision, answer });
  });

  it.each([
    ['that no version knows', { decision: 'forget' }],
    ['of nobody', { by: undefined }],
    ['without a reason', { reason: undefined }],
    ['without a name', { by: undefined }],
    ['without an answer', { answer: undefined }],
    ['of another version', { v: 2 }],
  ])('%s is refused', (_, own) => {
    expect(() => parseResolution(resolution(own))).toThrow(JournalRecordError);
  });
});

it.each([
  ['identity', parseIdentity],
  ['claim', parseClaim],
  ['outcome', parseOutcome],
  ['decision', parseResolution],
  ['task index entry', parseIndexEntry],
])('an unreadable %s is named', (what, parse) => {
  const said = (text: string) => {
    try {
      parse(text);
      return undefined;
    } catch (error) {
      return error as Error;
    }
  };
  expect(said('{')).toMatchObject({
    name: 'JournalRecordError',
    message: `The journal holds a ${what} that is not JSON; nothing is sent because of it.`,
  });
  expect(said('{"v":9}')).toMatchObject({
    name: 'JournalRecordError',
    message: `The journal holds a ${what} of an unknown version or shape; nothing is sent because of it.`,
  });
});

describe('a hint of an open send attempt', () => {
  const place = { namespace: 'default', creationKey: 'k', sendAttempt: 2 };

  it('is a place and nothing else', () => {
    expect(parsePlace(JSON.stringify({ v: 1, ...place, more: true }))).toEqual(place);
  });

  it.each(Object.keys(place))('without %s is none', (name) => {
    expect(parsePlace(JSON.stringify({ ...place, [name]: undefined }))).toBeUndefined();
  });

  it('that is no JSON is none', () => {
    expect(parsePlace('{')).toBeUndefined();
  });
});
