import {
  JournalRecordError,
  parseEntry,
  parseIdentity,
  parseIndexEntry,
  parsePlace,
  parseRemoval,
} from '../../../src/stores/journal/records';
import { makeVideoTask } from '../../domain/make-video-task';
import {
  answerEntry,
  billEntry,
  decisionEntry,
  fenceEntry,
  intentEntry,
  lostEntry,
} from '../../support/log-entries';

const video = makeVideoTask({ taskId: 't1' });
const answer = (own: object) => JSON.stringify({ ...answerEntry(), answer: own });
const decision = (own: object) => JSON.stringify({ ...decisionEntry(), ...own });

const WORDS = [
  'completed',
  'results_lost',
  'rejected',
  'refused_for_now',
  'not_sent',
  'unconfirmed',
  'created',
];

describe('an answer', () => {
  it.each(WORDS)('%s is read, with its task', (word) => {
    const own = { outcome: word, sendAttempt: 0, video };
    expect(parseEntry(answer(own))).toMatchObject({ kind: 'answer', answer: own });
  });

  it.each(WORDS.slice(0, -1))('%s needs no task', (word) => {
    expect(parseEntry(answer({ outcome: word, sendAttempt: 0 }))).toMatchObject({
      answer: { outcome: word },
    });
  });
});

describe('a decision', () => {
  const created = { outcome: 'created', sendAttempt: 0, video };
  it.each([
    ['adopt', created],
    ['adopt', { outcome: 'completed', sendAttempt: 0 }],
    ['declareLost', { outcome: 'rejected', sendAttempt: 0 }],
    ['resubmit', null],
  ])('%s is read', (made, end) => {
    expect(parseEntry(decision({ decision: made, answer: end }))).toMatchObject({
      decision: made,
      answer: end,
    });
  });

  it.each([
    ['that no version knows', { decision: 'forget' }],
    ['of nobody', { by: undefined }],
    ['without a reason', { reason: undefined }],
    ['about nothing', { about: undefined }],
    ['without an answer', { answer: undefined }],
    ['of another version', { v: 2 }],
    ['that adopts nothing', { decision: 'adopt', answer: null }],
    ['that adopts a refusal', { decision: 'adopt', answer: { outcome: 'rejected', sendAttempt: 0 } }],
    ['that gives up what was bought', { decision: 'declareLost', answer: created }],
    ['that sends again what was bought', { decision: 'resubmit', answer: created }],
  ])('%s is refused', (_, own) => {
    expect(() => parseEntry(decision(own))).toThrow(JournalRecordError);
  });
});

it.each([
  ['identity', parseIdentity],
  ['log entry', parseEntry],
  ['task index entry', parseIndexEntry],
  ['removal note', parseRemoval],
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
    message: `The journal contains a damaged ${what} (invalid JSON), so nothing is sent.`,
  });
  expect(said('{"v":9}')).toMatchObject({
    name: 'JournalRecordError',
    message: `The journal contains a ${what} of an unknown version or shape, so nothing is sent.`,
  });
});

it.each([intentEntry(), lostEntry(), answerEntry(), fenceEntry(), decisionEntry(), billEntry()])(
  'an entry of the kind $kind is read as it was written, and not without any field that the rule reads',
  (entry) => {
    expect(parseEntry(JSON.stringify(entry))).toEqual(entry);
    const read = {
      intent: [
        'nonce',
        'sender',
        'namespace',
        'creationKey',
        'workflowId',
        'runId',
        'fingerprint',
        'attemptAt',
      ],
      lost: ['nonce', 'sender', 'namespace', 'creationKey', 'workflowId', 'runId', 'fingerprint', 'cause'],
      answer: ['nonce', 'answer'],
      fence: ['sender'],
      decision: ['about', 'decision', 'answer'],
      bill: ['about', 'microUnits', 'currency', 'source', 'reference'],
    }[entry.kind];
    for (const field of ['v', 'kind', 'at', ...read])
      expect(() => parseEntry(JSON.stringify({ ...entry, [field]: undefined }))).toThrow(JournalRecordError);
  },
);

describe('a hint of an open intent', () => {
  const place = { namespace: 'default', creationKey: 'k', n: 2 };

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
