import { describePage, extensionOf, SNIFF_BYTES, sniffMedia } from '../../../src/stores/artifacts/media-type';

const bytes = (...parts: (string | number[])[]): Buffer =>
  Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))),
  );
const brand = (name: string) => bytes([0, 0, 0, 24], 'ftyp', name);
const typeOf = (head: Buffer) => sniffMedia(head)?.mediaType;

describe('a file of the ISO family', () => {
  it.each([
    ...['isom', 'iso2', 'mp41', 'mp42', 'avc1', 'M4V ', 'dash', 'MSNV', '3gp5'].map((name) => [
      name,
      'video/mp4',
    ]),
    ...['M4A ', 'M4B ', 'F4A ', 'F4B '].map((name) => [name, 'audio/mp4']),
    // Image sequences have a track of pictures.
    ...['avis', 'msf1', 'hevc', 'hevx'].map((name) => [name, 'video/mp4']),
    ...['avif', 'heic', 'heix', 'mif1', 'jpx ', 'jp2 '].map((name) => [name, undefined]),
    ['qt  ', 'video/quicktime'],
  ])('of brand %j is %s', (name, expected) => {
    expect(typeOf(brand(name!))).toBe(expected);
  });

  it('says its brand in full, or is none', () => {
    expect(typeOf(brand('iso'))).toBeUndefined();
    expect(typeOf(brand('isom').subarray(0, 12))).toBe('video/mp4');
    expect(typeOf(bytes([0, 0, 0, 24], 'ftyq', 'isom'))).toBeUndefined();
    expect(typeOf(bytes([0, 0, 24], 'ftyp', 'isom'))).toBeUndefined();
  });

  it('is one by the brands beside its own, too', () => {
    const still = (...others: string[]) =>
      bytes([0, 0, 0, 16 + 4 * others.length], 'ftypmif1', [0, 0, 0, 0], ...others);
    expect(typeOf(still('mif1', 'miaf'))).toBeUndefined();
    expect(typeOf(still('mif1', 'msf1', 'iso8'))).toBe('video/mp4');
    expect(typeOf(Buffer.concat([still('mif1'), Buffer.from('msf1')]))).toBeUndefined();
  });

  const FIRST = ['moov', 'wide', 'mdat', 'free', 'skip', 'uuid', 'moof', 'sidx', 'pdin', 'meta', 'imda'];
  it.each(FIRST)('may begin with %s, without a brand or before it, but not as text', (type) => {
    for (const size of [
      [0, 0, 1, 0],
      [1, 0, 1, 0],
      [0x20, 0x20, 0, 0x20],
    ])
      expect(typeOf(bytes(size, type))).toBe('video/quicktime');
    expect(typeOf(bytes([0, 0, 0, 12], type, 'abcd', [0, 0, 0, 20], 'ftypisom', [0, 0, 0, 0]))).toBe(
      'video/mp4',
    );
    expect(typeOf(bytes([0, 0, 0, 12], type, 'abcd', [0, 0, 0, 20], 'ftypqt  ', [0, 0, 0, 0]))).toBe(
      'video/quicktime',
    );
    expect(typeOf(bytes([0, 0, 1], type))).toBeUndefined();
    expect(typeOf(bytes([0, 0, 1, 0], type.slice(0, 3)))).toBeUndefined();
    expect(typeOf(bytes('The ', type, ' is a box.\n'))).toBeUndefined();
  });

  it('is not what begins with a box that nobody knows', () => {
    expect(typeOf(bytes([0, 0, 1, 0], 'abcd'))).toBeUndefined();
  });

  it.each(['styp', 'ftyp'])('is a segment by the brand in its box %s', (type) => {
    for (const name of ['msdh', 'msix', 'dash', 'cmfs', 'hlsf'])
      expect(typeOf(bytes([0, 0, 0, 24], type, name, [0, 0, 0, 0]))).toBe('video/mp4');
  });
});

describe('the magic number of', () => {
  const MAGIC: [string, Buffer][] = [
    ['video/webm', bytes([0x1a, 0x45, 0xdf, 0xa3], 'webm')],
    ['video/matroska', bytes([0x1a, 0x45, 0xdf, 0xa3], 'matroska')],
    ['video/x-msvideo', bytes('RIFF', [1, 2, 3, 4], 'AVI ')],
    ['image/png', bytes([0x89], 'PNG\r\n\x1a\n')],
    ['image/jpeg', bytes([0xff, 0xd8, 0xff])],
    ['image/webp', bytes('RIFF', [1, 2, 3, 4], 'WEBP')],
    ['image/gif', bytes('GIF87a')],
    ['image/gif', bytes('GIF89a')],
    ['audio/wav', bytes('RIFF', [1, 2, 3, 4], 'WAVE')],
    ['audio/ogg', bytes('OggS')],
    ['audio/flac', bytes('fLaC')],
    ['audio/aac', bytes([0xff, 0xf1])],
    ['audio/aac', bytes([0xff, 0xf9])],
    ['audio/mpeg', bytes('ID3')],
    ['audio/mpeg', bytes([0xff, 0xfb, 0x90, 0x64])],
    ['audio/mpeg', bytes([0xff, 0xe3, 0x18, 0xc4])],
  ];

  it.each(MAGIC)('%s is needed whole', (mediaType, head) => {
    expect(typeOf(head)).toBe(mediaType);
    expect(typeOf(Buffer.concat([head, bytes('more')]))).toBe(mediaType);
    expect(typeOf(head.subarray(0, -1))).toBeUndefined();
    // The first byte is no size and no filler.
    expect(typeOf(Buffer.concat([bytes([0]), head]))).toBeUndefined();
  });

  it.each(MAGIC)('%s has an extension that comes back', (mediaType, head) => {
    expect(extensionOf(mediaType)).toBe(sniffMedia(head)?.extension);
  });

  it('webm stands within the first 64 bytes', () => {
    const header = [0x1a, 0x45, 0xdf, 0xa3];
    expect(typeOf(bytes(header, 'x'.repeat(56), 'webm'))).toBe('video/webm');
    expect(typeOf(bytes(header, 'x'.repeat(57), 'webm'))).toBeUndefined();
  });

  it.each([
    ['a reserved version', [0xff, 0xeb, 0x90, 0x64]],
    ['layer I', [0xff, 0xff, 0x90, 0x64]],
    ['layer II', [0xff, 0xfd, 0x90, 0x64]],
    ['a reserved bit rate', [0xff, 0xfb, 0xf0, 0x64]],
    ['a reserved sample rate', [0xff, 0xfb, 0x9c, 0x64]],
    ['half a sync word', [0xff, 0x1b, 0x90, 0x64]],
    ['another first byte', [0xfe, 0xfb, 0x90, 0x64]],
    ['a UTF-16 text', [0xff, 0xfe, 0x41, 0x00]],
    ['AAC without its sync word', [0xfe, 0xf1, 0x50, 0x80]],
    ['AAC with a layer', [0xff, 0xf7, 0xf0, 0x80]],
  ])('audio is not %s', (_, head) => {
    expect(typeOf(Buffer.from(head))).toBeUndefined();
  });

  it('is read from a part of a larger buffer', () => {
    const all = bytes('xxxx', 'OggS');
    expect(typeOf(all.subarray(4))).toBe('audio/ogg');
    expect(typeOf(all.subarray(0, 4))).toBeUndefined();
  });
});

it.each([
  [188, 0],
  [192, 4],
  [204, 0],
])('a transport stream has packets of %i bytes', (step, before) => {
  const head = Buffer.alloc(3 * step);
  for (const index of [0, 1, 2]) head[before + index * step] = 0x47;
  expect(typeOf(head)).toBe('video/mp2t');
  expect(extensionOf('video/mp2t')).toBe('ts');
  head[before + step] = 0x46;
  expect(typeOf(head)).toBeUndefined();
  expect(typeOf(Buffer.alloc(3 * step, 'G'))).toBeUndefined();
});

it.each([
  ['application/json', 'json'],
  ['application/json;charset=utf-8', 'json'],
  ['video/mp4; codecs="avc1.42000a"', 'mp4'],
  ['application/octet-stream', 'bin'],
  ['text/html', 'bin'],
  ['', 'bin'],
])('a file of the type %j ends with .%s', (mediaType, extension) => {
  expect(extensionOf(mediaType)).toBe(extension);
});

describe('a page instead of media', () => {
  it.each([
    ['', 'empty'],
    ['{"a":1}', 'json'],
    [' \n\t[1]', 'json'],
    ['\ufeff{', 'json'],
    [' \ufeff {', 'json'],
    ['x\ufeff{', 'text'],
    ['x{', 'text'],
    ['<!doctype html>', 'html'],
    ['<!DOCTYPE HTML>', 'html'],
    ['<html>', 'html'],
    ['<head>', 'html'],
    ['<body>', 'html'],
    ['<?xml version="1.0"?>', 'html'],
    ['<Error><Code>', 'html'],
    ['<!-- x -->', 'html'],
    ['\ufeff \n<html>', 'html'],
    ['x <html>', 'text'],
    ['<svg>', 'text'],
    ['gateway timeout', 'text'],
    ['tab\tand\r\nlines', 'text'],
    ['\u001b[1mcolours', 'text'],
    ['schön', 'text'],
    ['a\u0000b', 'unknown'],
    ['a\u0008b', 'unknown'],
    ['a\u000eb', 'unknown'],
    ['a\u001ab', 'unknown'],
    ['a\ufffdb', 'unknown'],
  ])('%j is %s', (text, expected) => {
    expect(describePage(Buffer.from(text))).toBe(expected);
  });

  it('may end in the middle of a character', () => {
    const cut = Buffer.from('schö').subarray(0, -1);
    expect(describePage(cut)).toBe('text');
    expect(describePage(Buffer.concat([cut, Buffer.from('x')]))).toBe('unknown');
    expect(describePage(Buffer.concat([cut, Buffer.from('\n')]))).toBe('unknown');
    // Several broken bytes at the end are no more telling than one.
    expect(describePage(Buffer.concat([cut, Buffer.from([0xff, 0xff])]))).toBe('text');
  });

  it('is validated by its beginning', () => {
    const long = Buffer.concat([Buffer.alloc(SNIFF_BYTES, 'x'), Buffer.from([0])]);
    expect(describePage(long)).toBe('text');
    expect(describePage(long.subarray(1))).toBe('unknown');
    expect(SNIFF_BYTES).toBe(4096);
  });
});

describe('what a file is called', () => {
  const cluster = [0x1a, 0x45, 0xdf, 0xa3];
  it.each([
    ['video', 'video/mp4', 'mp4', brand('isom')],
    ['video', 'video/quicktime', 'mov', brand('qt  ')],
    ['video', 'video/webm', 'webm', bytes(cluster, [0x80, 0x42, 0x82, 0x84], 'webm')],
    ['image', 'image/png', 'png', bytes([0x89], 'PNG\r\n', [0x1a], '\n')],
    ['image', 'image/jpeg', 'jpg', bytes([0xff, 0xd8, 0xff, 0xe0])],
    ['image', 'image/webp', 'webp', bytes('RIFF', [0, 0, 0, 0], 'WEBPVP8 ')],
    ['image', 'image/gif', 'gif', bytes('GIF89a')],
    ['audio', 'audio/wav', 'wav', bytes('RIFF', [0, 0, 0, 0], 'WAVEfmt ')],
    ['audio', 'audio/ogg', 'ogg', bytes('OggS')],
    ['audio', 'audio/flac', 'flac', bytes('fLaC')],
    ['audio', 'audio/mp4', 'm4a', brand('M4A ')],
    ['audio', 'audio/aac', 'aac', bytes([0xff, 0xf1, 0x50, 0x80])],
    ['audio', 'audio/mpeg', 'mp3', bytes('ID3', [4, 0, 0])],
  ] as const)('%s %s has the extension %s', (kind, mediaType, extension, head) => {
    expect(sniffMedia(head)).toMatchObject({ kind, mediaType });
    expect(extensionOf(mediaType)).toBe(extension);
  });

  it.each(['WEBP', 'WAVE'])('a %s without its RIFF before is neither image nor sound', (form) => {
    expect(sniffMedia(bytes('RIFX', [0, 0, 0, 0], form))).toBeUndefined();
  });
});
