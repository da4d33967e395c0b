import { type JsonValue } from '../../src/domain/json';
import { createRedactor } from '../../src/service/redact';
import { asNumber, asText, readTaskError } from '../../src/service/task-error';

const read = (value: JsonValue | undefined) => readTaskError(value, createRedactor([]));
const UNKNOWN = { kind: 'unknown', code: null, message: null } as const;

/** Values and what exactly is read from them. */
type Cases = readonly (readonly [string, JsonValue, Partial<ReturnType<typeof read>>])[];

describe('a text', () => {
  const page = (before: string) => `<html><head>${before}<title lang="en">  Bad Gateway </title></head>`;
  const json = (length: number) =>
    `{"code":"nsfw","pad":"${'x'.repeat(length - '{"code":"nsfw","pad":""}'.length)}"}`;

  it.each<Cases[number]>([
    ['between blanks', '  m  ', { message: 'm', code: null }],
    ['of blanks', '   ', UNKNOWN],
    ['that is a number', '123', { message: '123' }],
    ['that is a word in quotes', '"a{b"', { message: '"a{b"' }],
    ['that only begins like JSON', '{broken', { message: '{broken' }],
    ['that is JSON', '{"code":"nsfw"}', { kind: 'moderation', code: 'nsfw' }],
    ['that is a list', '[{"code":"nsfw"}]', { kind: 'moderation', code: 'nsfw' }],
    ['that is JSON after blanks', ' \n{"code":"nsfw"}', { kind: 'moderation', code: 'nsfw' }],
    ['of 16,384 characters of JSON', json(16_384), { kind: 'moderation', code: 'nsfw' }],
    ['of more JSON than is parsed', json(16_385), { kind: 'unknown', code: null }],
    ['that is a page', page(''), { message: 'An HTML page: Bad Gateway', kind: 'unknown' }],
    ['that is a page without a title', '<html><title> </title>', { message: 'An HTML page.' }],
    ['that is a page with a late title', page('x'.repeat(16_384)), { message: 'An HTML page.' }],
    ['that quotes a page', 'see <html><title>x</title>', { message: 'see <html><title>x</title>' }],
  ])('%s', (_, value, expected) => {
    expect(read(value)).toMatchObject(expected);
  });

  it.each(['nsfw', 'NSFW', 'nsfw_detected', 'x.nsfw', 'x-1.nsfw', 'x.'.repeat(48) + 'nsfw'])(
    'that is nothing but a code, %s, tells the kind and is no code',
    (text) => {
      expect(read(text)).toEqual({ kind: 'moderation', code: null, message: text });
    },
  );

  it.each(['nsfw it is', '1nsfw', '_nsfw', 'nsfw_', 'x..nsfw', 'x.'.repeat(48) + 'nsfws'])(
    'that is no code, %s, tells no kind',
    (text) => {
      expect(read(text).kind).toBe('unknown');
    },
  );

  it('is searched for its first 4,096 characters, and two texts are two', () => {
    expect(read(`${'x '.repeat(2000)}quota_exceeded`).kind).toBe('quota');
    expect(read(`${'x '.repeat(2048)}quota_exceeded`).kind).toBe('unknown');
    expect(read({ message: 'x quota', msg: '_exceeded y' }).kind).toBe('unknown');
  });
});

describe('a list', () => {
  const ten = Array.from({ length: 10 }, () => ({}));
  it.each<Cases[number]>([
    ['of texts', ['nsfw', 'second'], { kind: 'moderation', message: 'nsfw' }],
    [
      'of errors',
      { errors: [{ code: 'nsfw', message: 'm' }] },
      { kind: 'moderation', code: 'nsfw', message: 'm' },
    ],
    [
      'of complaints',
      [{ loc: ['body', 'n'], msg: 'a' }, { msg: 'b' }],
      { kind: 'invalid', message: 'body.n: a; b' },
    ],
    ['with a place that is no list', [{ loc: 'body', msg: 'a' }], { message: 'a' }],
    ['with an empty place', [{ loc: [], msg: 'a' }], { message: 'a' }],
    [
      'with a place that holds an object',
      [{ loc: ['body', { a: 1 }, 0], msg: 'a' }],
      { message: 'body.0: a' },
    ],
    ['with the type in its second item', [{ msg: 'a' }, { msg: 'b', type: 't' }], { code: 't' }],
    ['that is empty beside a message', { errors: [], message: 'm' }, { message: 'm' }],
    ['of ten', [...ten.slice(1), { code: 'nsfw' }], { kind: 'moderation' }],
    ['of more than ten', [...ten, { code: 'nsfw' }], UNKNOWN],
  ])('%s', (_, value, expected) => {
    expect(read(value)).toMatchObject(expected);
  });
});

describe('an object', () => {
  it.each<Cases[number]>([
    ['with a text for an error', { error: 'm' }, { message: 'm' }],
    ['with a text for a failure', { failure: 'm', message: 'x' }, { message: 'm' }],
    ['with a text for its data', { data: 'm' }, UNKNOWN],
    ['with detail and message', { detail: 'm', message: 'x' }, { message: 'x' }],
    ['with detail alone', { detail: 'm' }, { message: 'm' }],
    ['with data that is an error', { data: { code: 'nsfw' } }, { kind: 'moderation', code: 'nsfw' }],
    ['with a number for an error', { error: 5, message: 'm' }, { message: 'm' }],
    ['whose reason is a sentence', { reason: 'not so fast', message: 'm' }, { code: null, message: 'm' }],
    ['whose type is a sentence', { type: 'not so fast', message: 'm' }, { code: null, message: 'm' }],
    ['whose code stands between blanks', { code: ' nsfw ' }, { kind: 'moderation' }],
    ['whose code only begins like none', { code: 'none_found' }, { code: 'none_found' }],
    ['whose code is none', { code: 'none', message: 'm' }, { code: null }],
    ['whose code has 100 characters', { code: `nsfw${'x'.repeat(96)}` }, { kind: 'moderation' }],
    ['whose code has 101 characters', { code: `nsfw${'x'.repeat(97)}` }, UNKNOWN],
    ['whose message is blank beside another', { message: ' ', msg: 'm' }, { message: 'm' }],
    ['whose code is blank beside a type', { code: ' ', type: 't' }, { code: 't' }],
    ['whose code is beyond all numbers', { code: Infinity, type: 't' }, { code: 't' }],
    ['whose code is true', { code: true, type: 't' }, { code: 't' }],
    [
      'that repeats the status of a gateway',
      { error: { code: 503 }, code: 'nsfw' },
      { kind: 'moderation', code: 'nsfw' },
    ],
    ['that has nothing but a status', { error: { code: 404 }, code: 500 }, { code: '404' }],
    ...['333', '1503', '5031', '4x4', '40x'].map((code): Cases[number] => [
      `whose code ${code} is no status`,
      { error: { code }, code: 'x' },
      { code },
    ]),
    ['whose inner error has the better code', { code: 'outer', error: { code: 'inner' } }, { code: 'inner' }],
  ])('%s', (_, value, expected) => {
    expect(read(value)).toMatchObject(expected);
  });
});

describe('an error inside errors', () => {
  const nest = (levels: number, wrap: (inner: JsonValue) => JsonValue): JsonValue =>
    Array.from({ length: levels }).reduce<JsonValue>(wrap, { code: 'nsfw' });

  it.each<[string, number, (inner: JsonValue) => JsonValue]>([
    ['objects', 4, (inner) => ({ error: inner })],
    ['lists', 4, (inner) => [inner]],
    ['texts', 2, (inner) => ({ message: JSON.stringify(inner) })],
  ])('is read through a few %s, and no deeper', (_, levels, wrap) => {
    expect(read(nest(levels, wrap))).toMatchObject({ kind: 'moderation', code: 'nsfw' });
    expect(read(nest(levels + 1, wrap))).toEqual(UNKNOWN);
  });
});

describe('a single value of a reply', () => {
  it.each<[JsonValue | undefined, number | undefined]>([
    [0, 0],
    [-1.5, -1.5],
    [1e20, 1e20],
    [Infinity, undefined],
    [NaN, undefined],
    ['7', 7],
    ['-7', -7],
    ['007', 7],
    ['12.25', 12.25],
    ['-0.5', -0.5],
    ['1'.repeat(15), 111_111_111_111_111],
    // More digits would be another number.
    ['1'.repeat(16), undefined],
    ...['', ' ', ' 7', '7 ', '+7', '7s', 's7', '1.', '.5', '1.x', '1.5.2', '1e3', '0x10', '--1', '-'].map(
      (text): [string, undefined] => [text, undefined],
    ),
    [[7], undefined],
    [{}, undefined],
    [true, undefined],
    [null, undefined],
    [undefined, undefined],
  ])('%j is the number %j', (value, expected) => {
    expect(asNumber(value)).toBe(expected);
  });

  it.each<[JsonValue | undefined, string | undefined]>([
    ['m', 'm'],
    [' m ', ' m '],
    [0, '0'],
    [-1.5, '-1.5'],
    [Infinity, undefined],
    [NaN, undefined],
    ['', undefined],
    [' \n', undefined],
    [['m'], undefined],
    [{}, undefined],
    [true, undefined],
    [null, undefined],
    [undefined, undefined],
  ])('%j is the text %j', (value, expected) => {
    expect(asText(value)).toBe(expected);
  });
});
