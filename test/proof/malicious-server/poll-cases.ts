import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { type GetVideoResult } from '../../../src/service/media-client';
import { type Answer } from '../../activities/download-harness';
import { clientOf, KEY } from '../../service/client-under-test';
import { loopback } from '../../service/loopback-service';
import { endless, raw, reply, reset, silence } from './raw-answers';

export interface PollCase {
  readonly name: string;
  readonly id: string;
  readonly answer: Answer;
  readonly says: Record<string, unknown>;
  /** The one path that may be asked for; null when nothing may leave this machine. */
  readonly asked: string | null;
  /** The limits of a record are short here: it never comes to its end. */
  readonly slow?: true;
}

const json = (text: string | Uint8Array, ...fields: string[]): Answer =>
  reply(
    [
      'HTTP/1.1 200 OK',
      'content-type: application/json',
      `content-length: ${Buffer.from(text as string, 'latin1').length}`,
      ...fields,
    ],
    text,
  );
const utf8 = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
const packed = (encoding: string, bytes: Uint8Array): Answer =>
  reply(['HTTP/1.1 200 OK', `content-encoding: ${encoding}`, `content-length: ${bytes.length}`], bytes);

const unreadable = { kind: 'error', error: 'unreadable', httpStatus: 200 };
const network = { kind: 'error', error: 'network' };
const record = (fields: Record<string, unknown> = {}) => ({
  kind: 'record',
  record: { phase: 'in_progress', ...fields },
});
const GOOD = { id: 'a', status: 'in_progress' };
const BOMB = Buffer.alloc(64 * 1024 * 1024, ' ');

const IDS = [
  '../../x',
  '..%2f..%2fx',
  '%2e%2e',
  '..%00',
  'a/../../b',
  'a?b=c',
  'a#b',
  'a;b',
  'a\\..\\b',
  'a b',
  '\u{1f600}',
  'ü'.repeat(200),
  '__proto__',
  'con',
  '\u202egpj.exe',
  '//evil.test/x',
  'http://evil.test/',
  '%',
];
const NO_IDS = ['', ' ', '.', '..', 'a\0b', 'a\r\nx: y', '\u0007', 'x'.repeat(10_000), '\ud800', 'a\udfffb'];

const of = (name: string, answer: Answer, says: Record<string, unknown>, slow?: true): PollCase => ({
  name,
  id: 'a',
  answer,
  says,
  asked: '/v1/videos/a',
  ...(slow === undefined ? {} : { slow }),
});

const PROGRESS: [string, number | undefined][] = [
  ['-1', undefined],
  ['1e308', undefined],
  ['1e999', undefined],
  ['-1e999', undefined],
  ['100.1', undefined],
  ['"NaN"', undefined],
  ['[50]', undefined],
  ['{"toString":1}', undefined],
  ['null', undefined],
  ['true', undefined],
  ['-0', 0],
  ['100', 100],
];

export const POLLS: readonly PollCase[] = [
  ...IDS.map((id): PollCase => ({
    name: `the id ${JSON.stringify(id.slice(0, 20))} stays one segment`,
    id,
    answer: json(utf8(GOOD)),
    says: record(),
    asked: `/v1/videos/${encodeURIComponent(id)}`,
  })),
  ...NO_IDS.map((id): PollCase => ({
    name: `the id ${JSON.stringify(id.slice(0, 20))} of ${id.length} characters goes nowhere`,
    id,
    answer: json(utf8(GOOD)),
    says: { kind: 'error', error: 'bad_request' },
    asked: null,
  })),
  ...PROGRESS.map(([text, progress]) =>
    of(
      `progress ${text}`,
      json(`{"status":"in_progress","progress":${text}}`),
      progress === undefined
        ? {
            kind: 'record',
            record: expect.not.objectContaining({ progress: expect.anything() as unknown }) as unknown,
          }
        : record({ progress }),
    ),
  ),
  of('progress NaN without quotes', json('{"status":"in_progress","progress":NaN}'), unreadable),
  of('an unknown status', json(utf8({ ...GOOD, status: 'exploded' })), record({ phase: 'unknown' })),
  of('a status of 100,000 characters', json(utf8({ ...GOOD, status: 'x'.repeat(100_000) })), {
    kind: 'record',
    record: { phase: 'unknown' },
  }),
  of('a status that is an object', json(utf8({ ...GOOD, status: { a: 1 } })), record({ phase: 'unknown' })),
  of('another id', json(utf8({ ...GOOD, id: '../b' })), { ...record(), id: '../b' }),
  of('an id that is an object', json(utf8({ ...GOOD, id: { a: 1 } })), record()),
  of('100,000 arrays in each other', json('['.repeat(100_000)), unreadable),
  of('100,000 objects in each other', json(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`), unreadable),
  of('brackets inside a string', json(utf8({ ...GOOD, a: '['.repeat(100_000) })), record()),
  of(
    'a prototype',
    json('{"status":"in_progress","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'),
    record(),
  ),
  of('a status in the prototype', json('{"__proto__":{"status":"completed"}}'), unreadable),
  of('the same field twice', json('{"status":"in_progress","status":"in_progress"}'), record()),
  of('a byte order mark', json(utf8(`\ufeff${JSON.stringify(GOOD)}`)), record()),
  of('lone surrogates', json('{"status":"in_progress","a":"\\ud800","\\udfff":1}'), record()),
  of(
    'bytes that are no UTF-8',
    json(Buffer.from('{"status":"in_progress","a":"\xff\xfe"}', 'latin1')),
    record(),
  ),
  of('UTF-16', json(Buffer.from(JSON.stringify(GOOD), 'utf16le')), unreadable),
  ...['', ' ', 'null', '[]', '[{"status":"completed"}]', '"completed"', '7', '{', '{"status":', '<html>'].map(
    (text) => of(`the body ${JSON.stringify(text)}`, json(text), unreadable),
  ),
  of(
    'a record without an end',
    endless('HTTP/1.1 200 OK\r\n\r\n{"status":"', 'x'.repeat(65_536)),
    unreadable,
  ),
  of('numbers without an end', endless('HTTP/1.1 200 OK\r\n\r\n[', '0,'.repeat(65_536)), unreadable),
  of('a bomb in gzip', packed('gzip', gzipSync(BOMB)), unreadable),
  of('a bomb in deflate', packed('deflate', deflateSync(BOMB)), unreadable),
  of('a bomb in brotli', packed('br', brotliCompressSync(BOMB, { params: { 1: 1 } })), unreadable),
  of('an encoding in an encoding', packed('gzip, gzip', gzipSync(gzipSync(utf8(GOOD)))), unreadable),
  of('an unknown encoding', packed('zstd', utf8(GOOD)), unreadable),
  of('gzip that is none', packed('gzip', utf8(GOOD)), unreadable),
  of('a record that drips', endless('HTTP/1.1 200 OK\r\n\r\n{"status":"', 'x', 20), network, true),
  of('a record that never begins', silence, network, true),
  of('headers that drip', endless('HTTP/1.1 200 OK\r\nx-a: ', 'a', 20), network, true),
  of(
    'interim replies without an end',
    endless('', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n', 10),
    network,
    true,
  ),
  of('headers without an end', endless('HTTP/1.1 200 OK\r\nx-a: ', 'a'.repeat(8192)), network),
  of('a record that is cut', reply(['HTTP/1.1 200 OK', 'content-length: 500'], utf8(GOOD)), network),
  of('a reset', reset, network),
  of('another protocol', raw('220 smtp.test ESMTP\r\n'), network),
  of(
    'a redirect to this machine',
    reply(['HTTP/1.1 302 Found', 'location: http://127.0.0.1:1/', 'content-length: 0']),
    { kind: 'error' },
  ),
  of(
    'an error that repeats the key',
    reply(
      ['HTTP/1.1 500 Oops', `x-echo: ${KEY}`],
      utf8({ error: { code: KEY, message: `Bearer ${KEY}`, type: KEY } }),
    ),
    { kind: 'error', error: 'unavailable' },
  ),
  of(
    'an error of a megabyte',
    reply(['HTTP/1.1 404 Not Found'], utf8({ error: { message: 'x'.repeat(1_000_000) } })),
    { kind: 'error', error: 'not_found' },
  ),
  of(
    'a failure of every shape at once',
    json(utf8({ status: 'failed', error: { error: { error: ['x'] } }, fail_reason: 7, failureCode: {} })),
    record({ phase: 'failed' }),
  ),
  of(
    'a hundred thousand facts',
    json(
      utf8({
        ...GOOD,
        usage: Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, index])),
      }),
    ),
    unreadable,
  ),
  of(
    'Retry-After of three years',
    reply(['HTTP/1.1 429 Slow', 'retry-after: 99999999', 'content-length: 0']),
    { kind: 'error', error: 'rate_limited', retryAfterMs: 99_999_999_000 },
  ),
];

/** One GET of a task, through the real client. */
export async function runPollCase({ id, answer, says, asked, slow }: PollCase): Promise<void> {
  const service = await loopback((request, response) => answer(request as never, response));
  const short = slow === undefined ? {} : { timeouts: { pollHeadersMs: 300, pollBodyMs: 300 } };
  const client = clientOf(service.origin, short);
  try {
    const result: GetVideoResult = await client.getVideo(id);
    expect(result).toMatchObject(says);
    expect(service.seen.map(({ url }) => url)).toEqual(asked === null ? [] : [asked]);
    expect(JSON.stringify(result)).not.toContain(KEY);
    // What crosses into a history stays small, whatever the service says.
    expect(JSON.stringify(result).length).toBeLessThan(70_000);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  } finally {
    await client.close();
    await service.close();
  }
}
