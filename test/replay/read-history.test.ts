import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { defaultPayloadConverter, type PayloadCodec } from '@temporalio/common';
import { Encryption } from '../../examples/encryption';
import { decodeRun } from '../../packages/replay/src/decode-payloads';
import { historyToJson, historyToProtobuf } from '../../packages/replay/src/history-codec';
import { readHistoryFolder } from '../../packages/replay/src/history-folder';
import { parseHistory, readHistoryFile } from '../../packages/replay/src/read-history';
import { writtenBy } from '../../packages/replay/src/verdict';
import { VERSION_MEMO } from '../../src/domain/names';
import { newKey } from '../support/encryption';
import { ODD_VALUES } from '../support/odd-values';
import { chainsOf } from './support/chains-of';

const GOLDEN = path.resolve(__dirname, '..', 'golden');
const TEXT = readFileSync(path.join(GOLDEN, 'generateVideo.completed.v1.json'), 'utf8');
const json = (): { events: Record<string, unknown>[] } =>
  JSON.parse(TEXT) as { events: Record<string, unknown>[] };
const bytes = (value: unknown): Buffer =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
const parsed = () => parseHistory(bytes(TEXT), 'h.json');

/** As the UI of older servers writes it. */
const pascal = (text: string): string =>
  text.replace(/"(EVENT_TYPE|TASK_QUEUE_KIND)_([A-Z_]+)"/g, (_all, _prefix, name: string) =>
    JSON.stringify(
      name.toLowerCase().replace(/(?:^|_)([a-z])/g, (_one, letter: string) => letter.toUpperCase()),
    ),
  );

describe('a history loads from', () => {
  it.each([
    ['the JSON of the Temporal CLI', () => bytes(TEXT)],
    ['the same with a mark of its encoding', () => bytes(`\uFEFF${TEXT}`)],
    ['the download of an older UI', () => bytes(pascal(TEXT))],
    ['JSON without white space, as the SDK and the HTTP API write it', () => bytes(historyToJson(parsed()))],
    ['protobuf', () => Buffer.from(historyToProtobuf(parsed()))],
    [
      'JSON with fields of a newer server',
      () => {
        const newer = json();
        newer.events.forEach((event) => (event['fieldOfTomorrow'] = { a: 1 }));
        return bytes(newer);
      },
    ],
  ])('%s', (_what, given) => {
    expect(historyToProtobuf(parseHistory(given(), 'h'))).toEqual(historyToProtobuf(parsed()));
  });

  it('and says who wrote it', () => {
    expect(writtenBy(parsed())).toMatchObject({ sdk: 'temporal-typescript 1.24.0', package: null });
    const startedWith = (value: unknown) => {
      const history = parsed();
      const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
      if (started != null)
        started.memo = { fields: { [VERSION_MEMO]: defaultPayloadConverter.toPayload(value) } };
      return writtenBy(history).package;
    };
    expect(startedWith('0.2.0')).toBe('0.2.0');
    for (const odd of [...ODD_VALUES, '0.2', '0.2.0 of somebody']) expect(startedWith(odd)).toBeNull();
  });
});

describe('what is no history is refused with its reason:', () => {
  const without = (...ids: number[]): unknown => ({
    events: json().events.filter(({ eventId }) => !ids.includes(Number(eventId))),
  });
  const shorthand = (): unknown => {
    const given = json();
    const started = given.events[0]?.['workflowExecutionStartedEventAttributes'] as Record<string, unknown>;
    started['input'] = [{ request: { prompt: 'a kite' } }];
    return given;
  };
  it.each<[string, () => Buffer, string, RegExp]>([
    ['cut JSON', () => bytes(TEXT.slice(0, 5000)), 'truncated', /ends in the middle/],
    [
      'cut protobuf',
      () => Buffer.from(historyToProtobuf(parsed()).subarray(0, 900)),
      'truncated',
      /ends in the middle/,
    ],
    ['a missing event', () => bytes(without(8)), 'truncated', /event 7 is followed by event 9/],
    ['a missing begin', () => bytes(without(1, 2, 3)), 'truncated', /begins with event 4/],
    ['other JSON', () => bytes({ name: 'temporal-media' }), 'not_a_history', /no list of events/],
    ['null', () => bytes('null'), 'not_a_history', /no list of events/],
    [
      'events of something else',
      () => bytes({ events: [{ eventType: 7.5, at: 'x' }] }),
      'not_a_history',
      /Temporal/,
    ],
    ['no events', () => bytes({ events: [] }), 'not_a_history', /no events/],
    ['text', () => bytes('Progress:\n  ID  Time'), 'not_a_history', /neither JSON nor/],
    [
      'a picture',
      () => Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
      'not_a_history',
      /neither JSON nor/,
    ],
    ['an empty file', () => Buffer.alloc(0), 'not_a_history', /no events/],
    [
      'values in the place of payloads',
      () => bytes(shorthand()),
      'not_a_history',
      /no-json-shorthand-payloads/,
    ],
  ])('%s', (_what, given, code, message) => {
    const parse = () => parseHistory(given(), 'h');
    expect(parse).toThrow(message);
    expect(parse).toThrow(expect.objectContaining({ name: 'HistoryError', code }) as Error);
  });
});

describe('files', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'temporal-media-histories-'));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  it('that are larger than any history are not read, and absent ones are named', async () => {
    const large = path.join(dir, 'large.json');
    writeFileSync(large, '');
    truncateSync(large, 200 * 1024 * 1024);
    await expect(readHistoryFile(large)).rejects.toMatchObject({ code: 'too_large' });
    rmSync(large);
    await expect(readHistoryFile(path.join(dir, 'none.json'))).rejects.toMatchObject({
      code: 'not_found',
      message: 'none.json cannot be read: ENOENT.',
    });
  });

  it('of a folder: runs that continued as new are one chain, oldest first; what is no history has its reason', async () => {
    // Names in the wrong order.
    for (const [name, run] of [
      ['c', 1],
      ['b', 2],
      ['a', 3],
    ] as const)
      writeFileSync(
        path.join(dir, `${name}.json`),
        readFileSync(path.join(GOLDEN, `generateVideo.continued-watching-run${run}.v1.json`)),
      );
    writeFileSync(path.join(dir, 'single.bin'), historyToProtobuf(parsed()));
    writeFileSync(path.join(dir, 'wrong.json'), '{}');
    writeFileSync(path.join(dir, 'notes.txt'), 'not read');
    const found: unknown[] = [];
    for await (const one of readHistoryFolder(dir))
      found.push('error' in one ? [one.target, one.error.code] : one.runs.map(({ source }) => source));
    expect(found).toEqual([['c.json', 'b.json', 'a.json'], ['single.bin'], ['wrong.json', 'not_a_history']]);
  });

  it('in memory join in the same way', async () => {
    const runs = await Promise.all(
      [3, 1, 2].map((n) =>
        readHistoryFile(path.join(GOLDEN, `generateVideo.continued-watching-run${n}.v1.json`)),
      ),
    );
    const [chain, ...others] = chainsOf(runs);
    expect(others).toEqual([]);
    expect(chain?.runs.map(({ source }) => source)).toEqual(
      [1, 2, 3].map((n) => `generateVideo.continued-watching-run${n}.v1.json`),
    );
  });
});

describe('encrypted payloads', () => {
  const key = newKey('own');
  const encrypted = async () => {
    const run = await readHistoryFile(path.join(GOLDEN, 'generateVideo.completed.v1.json'));
    const codec: PayloadCodec = new Encryption(key);
    const backwards: PayloadCodec = {
      encode: (all) => codec.decode(all),
      decode: (all) => codec.encode(all),
    };
    return decodeRun(run, { codecs: [backwards], namespace: 'default', ownConverter: true }).catch(() => run);
  };

  it('are read with their codec, and named without it or with another key', async () => {
    const plain = historyToProtobuf(parsed());
    const options = { namespace: 'default', ownConverter: false };
    await expect(decodeRun(await encrypted(), { ...options, codecs: [] })).rejects.toMatchObject({
      code: 'encrypted',
      message: expect.stringContaining('"binary/encrypted"') as string,
    });
    const other = [new Encryption(newKey('other'))];
    await expect(decodeRun(await encrypted(), { ...options, codecs: other })).rejects.toMatchObject({
      code: 'encrypted',
    });
    const read = await decodeRun(await encrypted(), { ...options, codecs: [new Encryption(key)] });
    expect(historyToProtobuf(read.history)).toEqual(plain);
  });
});
