import { sandboxModels } from '../../../packages/sandbox/src/models';
import { estimatePrice, formatMoney, type Money } from '../../../src/domain/money';
import { type ConfigurationReading, readModelConfiguration } from '../../../src/settings/model-schema';
import {
  JournalRecordError,
  parseEntry,
  parseIdentity,
  parseIndexEntry,
  parseRemoval,
} from '../../../src/stores/journal/records';
import { answerEntry, decisionEntry, fenceEntry, intentEntry, lostEntry } from '../../support/log-entries';
import { type FuzzedParser } from './fuzzed-parser';
import { wordsOf } from './wire-samples';

const bytes = (value: unknown) => Buffer.from(JSON.stringify(value));
const VIDEO = {
  taskId: 't1',
  model: 'm',
  durationSeconds: 4,
  resolution: null,
  referenceMode: 'none',
  account: 'default@00000000',
  polling: { minSeconds: 3, maxSeconds: 5, firstPollSeconds: 4 },
  createdAt: '2026-01-01T00:00:00.000Z',
  source: 'create_reply',
};
const ANSWER = {
  sendAttempt: 0,
  sent: true,
  account: 'default@00000000',
  estimate: { microUnits: 5, currency: 'USD' },
};
const outcome = (answer: object) => bytes({ ...answerEntry(), answer: { ...ANSWER, ...answer } });
const decision = (word: string, answer: object | null) =>
  bytes({ ...decisionEntry(), decision: word, answer });
const COMMON = ['__proto__', 'constructor', '{"v":1', '"', '[', '}', '\u0000', 'null', '1e999', 'v', 'kind'];

const journal = (name: string, seeds: readonly Buffer[], parse: (text: string) => unknown): FuzzedParser => ({
  name,
  form: 'json',
  seeds,
  words: [...wordsOf(seeds), ...COMMON],
  parse: (input) => parse(input.toString('utf8')),
  declares: (error) => error instanceof JournalRecordError,
  wrong: (result, input) => {
    if (result === undefined) return undefined;
    const { v } = result as { v?: number };
    if (name !== 'journal identity' && v !== 1) return 'a version that nobody knows';
    return input.includes('"v"') || input.includes('\\u') ? undefined : 'a record without a version';
  },
});

const configurations = [
  bytes(sandboxModels),
  ...sandboxModels.models.map((one) => bytes({ version: 1, models: [one] })),
];

/** What is wrong with the price of any call under this configuration: integers or unknown, never a made-up 0. */
function wrongPrice(reading: ConfigurationReading): string | undefined {
  if (!reading.ok) return undefined;
  for (const { price } of reading.configuration.models) {
    for (const spec of [
      {},
      { durationSeconds: 4, resolution: '720p' },
      { size: '1024x1024', quality: 'high', n: 3 },
    ]) {
      const money = estimatePrice(price, spec);
      if (money !== null && !isMoney(money)) return `a price of ${JSON.stringify(money)}`;
    }
  }
  return undefined;
}

const isMoney = (money: Money) =>
  Number.isSafeInteger(money.microUnits) &&
  money.microUnits >= 0 &&
  /^\d+\.\d{2,6} [A-Z]{3}$/.test(formatMoney(money));

/** Readers of what lies in files of ours, which others may have touched. */
export const RECORD_PARSERS: readonly FuzzedParser[] = [
  journal(
    'journal entry of a sender',
    [bytes(intentEntry()), bytes(lostEntry()), bytes(fenceEntry())],
    parseEntry,
  ),
  journal(
    'journal entry of an answer',
    [
      outcome({ outcome: 'created', video: VIDEO, status: 'queued', phase: 'queued' }),
      outcome({ outcome: 'rejected', reason: 'invalid_request', message: 'm', httpStatus: 400 }),
      outcome({
        outcome: 'refused_for_now',
        httpStatus: 429,
        notBefore: VIDEO.createdAt,
        error: { kind: 'capacity' },
      }),
      outcome({ outcome: 'unconfirmed', evidence: { cause: 'http_502' } }),
    ],
    parseEntry,
  ),
  journal(
    'journal index entry',
    [
      bytes({
        v: 1,
        namespace: 'default',
        creationKey: 'k',
        sendAttempt: 0,
        workflowId: 'w',
        runId: 'r',
        video: VIDEO,
      }),
    ],
    parseIndexEntry,
  ),
  journal(
    'journal entry of a decision',
    [decision('adopt', { ...ANSWER, outcome: 'created', video: VIDEO }), decision('resubmit', null)],
    parseEntry,
  ),
  journal(
    'journal note of a removal',
    [bytes({ v: 1, at: VIDEO.createdAt, entries: ['a'.repeat(64)] })],
    parseRemoval,
  ),
  journal(
    'journal identity',
    [bytes({ v: 1, journalId: 'j-1', sealingKey: `${'A'.repeat(43)}=` })],
    parseIdentity,
  ),
  {
    name: 'model configuration and prices',
    form: 'json',
    seeds: configurations,
    words: [...wordsOf(configurations), ...COMMON, '1024x1024', 'auto', 'USD', 'specification', 'second'],
    parse: (input) => {
      try {
        return readModelConfiguration(JSON.parse(input.toString('utf8')));
      } catch (error) {
        if (error instanceof SyntaxError) return undefined;
        throw error;
      }
    },
    wrong: (result) => {
      if (result === undefined) return undefined;
      const reading = result as ConfigurationReading;
      if (!reading.ok)
        return reading.message !== '' && reading.message.length < 20_000 ? undefined : 'a long message';
      return wrongPrice(reading);
    },
  },
];
