import {
  JournalRecordError,
  parseCampaignRecord,
  parseEntry,
  parseIdentity,
  parseIndexEntry,
} from '../../../src/stores/journal/records';
import { makeVideoTask } from '../../domain/make-video-task';
import { answerEntry, intentEntry } from '../../support/log-entries';

const PAID = { sendAttempt: 0, sent: true, account: 'default@00000000', estimate: null };
const outcome = (answer: object) => JSON.stringify({ ...answerEntry(), answer: { ...PAID, ...answer } });
const video = makeVideoTask({ taskId: 't1' });

it('takes what the journal itself writes, later fields included', () => {
  const intent = intentEntry();
  expect(parseEntry(JSON.stringify(intent))).toEqual(intent);
  expect(parseEntry(JSON.stringify({ ...intent, later: { x: 1 } }))).toEqual({ ...intent, later: { x: 1 } });
  expect(parseEntry(outcome({ outcome: 'created', video }))).toMatchObject({ answer: { video } });
  const identity = { v: 1, journalId: 'j', sealingKey: Buffer.alloc(32).toString('base64') };
  expect(parseIdentity(JSON.stringify(identity))).toEqual(identity);
});

it.each([
  ['a created task without a task', parseEntry, outcome({ outcome: 'created' })],
  [
    'a task id that fits into no path',
    parseEntry,
    outcome({ outcome: 'created', video: { ...video, taskId: '..' } }),
  ],
  ['a word that no version knows', parseEntry, outcome({ outcome: 'maybe' })],
  ['a send below 0', parseEntry, outcome({ outcome: 'not_sent', sendAttempt: -1 })],
  ['a time that is none', parseEntry, outcome({ outcome: 'refused_for_now', notBefore: 'soon' })],
  ['a send window without an end', parseEntry, JSON.stringify({ ...intentEntry(), sendWindowEnd: 'never' })],
  ['an intent of no run', parseEntry, JSON.stringify({ ...intentEntry(), runId: undefined })],
  ['a try of no time', parseEntry, JSON.stringify({ ...intentEntry(), attemptAt: 'soon' })],
  ['a kind that no version knows', parseEntry, JSON.stringify({ ...intentEntry(), kind: 'claim' })],
  ['another version', parseEntry, JSON.stringify({ ...intentEntry(), v: 2 })],
  [
    'a field __proto__',
    parseEntry,
    JSON.stringify(intentEntry()).replace('"nonce"', '"__proto__":{},"nonce"'),
  ],
  ['a key that is too short', parseIdentity, '{"v":1,"journalId":"j","sealingKey":"AAAA"}'],
  ...[`A${'A'.repeat(43)}=`, `${'A'.repeat(43)}=A`].map(
    (sealingKey) =>
      [
        'a key that is too long',
        parseIdentity,
        JSON.stringify({ v: 1, journalId: 'j', sealingKey }),
      ] as const,
  ),
  ...[{}, { header: 'x-key' }, { header: 'x-key', lastSendAt: 'soon' }, { lastSendAt: '2026-01-01' }].map(
    (idempotency) =>
      ['half an idempotency key', parseEntry, JSON.stringify({ ...intentEntry(), idempotency })] as const,
  ),
  ['half a record', parseEntry, JSON.stringify(intentEntry()).slice(0, 40)],
  ['an entry without an id', parseIndexEntry, '{"v":1,"creationKey":"k","video":{"account":"a"}}'],
  ['a deep nest', parseEntry, '['.repeat(200_000)],
] as const)('refuses %s: nothing is sent on its word', (_name, parse, text) => {
  expect(() => parse(text)).toThrow(JournalRecordError);
});

describe('a record of a campaign', () => {
  const book = { v: 1, kind: 'book', nonce: 'n', at: 'now', closed: 5, billed: 0, open: [[0, 3]], next: 1 };
  const batch = { v: 1, kind: 'batch', nonce: 'n', at: 'now' };

  it('that cannot be read is named', () => {
    expect(() => parseCampaignRecord('{')).toThrow(
      'The journal contains a damaged campaign record (invalid JSON), so nothing is sent.',
    );
  });

  it.each<[string, object]>([
    ['another version', { ...book, v: 2 }],
    ['a kind that nobody knows', { ...book, kind: 'purse' }],
    ['half a micro-unit', { ...book, closed: 0.5 }],
    ['a grant below nothing', { ...book, open: [[0, -1]] }],
    ['no next number', { ...book, next: undefined }],
    ['rows that are none', { ...batch, rows: [{ page: 0 }] }],
    ...['x1f', '1fx', '1F'].map((rows): [string, object] => [
      `rows ${rows} that are no hexadecimal digits`,
      { ...batch, rows: [{ index: 'i', page: 0, generation: 0, size: 1, rows }] },
    ]),
    ['a fence without an owner of its nonce', { v: 1, kind: 'fence', at: 'now' }],
  ])('with %s stops the caller', (_, record) => {
    expect(parseCampaignRecord(JSON.stringify(book))).toEqual(book);
    expect(() => parseCampaignRecord(JSON.stringify(record))).toThrow(JournalRecordError);
  });
});
