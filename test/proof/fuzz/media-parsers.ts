import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { readBase64, readDataUrl } from '../../../src/service/read-data-url';
import { decodedBody, parseJsonBody } from '../../../src/service/reply-body';
import {
  checkImage,
  describePage,
  MAX_IMAGE_PIXELS,
  sniffMedia,
} from '../../../src/stores/artifacts/media-type';
import { checkMp4Bytes } from '../../../src/stores/artifacts/mp4-verdict';
import { box, makePng, topLevel } from '../../stores/artifacts/make-media';
import { memorySource } from '../../stores/artifacts/memory-source';
import { type FuzzedParser } from './fuzzed-parser';

const base64 = (text: string) => Buffer.from(text, 'base64');
const GIF = base64('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7');
const WEBP = base64('UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA');
const WEBP_LOSSLESS = base64('UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==');
const JPEG = Buffer.concat([
  base64('/9j/4AAQSkZJRgABAQAAAQABAAD/4QAiRXhpZgAASUkqAAgAAAABABIBAwABAAAABgAAAAAAAAD/'),
  base64('wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAACf/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AVN//2Q=='),
]);
const MAX_BYTES = 64 * 1024;

/** The same video with its index in front, and with every child of the index shown once more. */
function variants(mp4: Buffer): Buffer[] {
  const part = (type: string) => {
    const { start, end } = topLevel(mp4).find((one) => one.type === type) ?? { start: 0, end: 0 };
    return mp4.subarray(start, end);
  };
  const moov = part('moov');
  const fragment = box('moof', box('traf', box('trun', Buffer.alloc(16, 1))));
  return [
    mp4,
    Buffer.concat([part('ftyp'), moov, part('mdat')]),
    Buffer.concat([part('ftyp'), moov, fragment, part('mdat')]),
    Buffer.concat([part('ftyp'), box('moov', moov.subarray(8), moov.subarray(8)), part('mdat')]),
  ];
}

const BOXES =
  'ftyp moov mvhd trak tkhd mdia mdhd hdlr minf stbl stsd stts stsz stsc stco co64 ctts avc1 avcC edts elst mvex trex moof traf tfhd trun mdat free skip udta meta uuid sidx emsg pssh senc wide hvc1 mp4a esds stz2 tfdt sbgp sgpd';

function wrongOfKinds(...reasons: readonly string[]) {
  return (result: unknown) => {
    const { ok, reason, message } = result as { ok: boolean; reason?: string; message?: string };
    if (ok) return undefined;
    return reasons.includes(reason ?? '') && (message?.length ?? 999) < 300
      ? undefined
      : `a reason of its own`;
  };
}

/** The names of {@link mediaParsers}: known before its samples are made. */
export const MEDIA_PARSER_NAMES = [
  'mp4 boxes and samples',
  'image header',
  'data url',
  'base64',
  'content encoding',
  'bounded json',
];

/** Readers of the bytes that are to become files. */
export function mediaParsers(mp4: Buffer): FuzzedParser[] {
  return [
    {
      name: 'mp4 boxes and samples',
      form: 'bytes',
      seeds: variants(mp4),
      words: BOXES.split(' '),
      parse: (input) => checkMp4Bytes(memorySource(input), input.length),
      wrong: wrongOfKinds('not_video', 'incomplete_file'),
    },
    {
      name: 'image header',
      form: 'bytes',
      seeds: [makePng(3, 2), GIF, WEBP, WEBP_LOSSLESS, JPEG],
      words: [
        'IHDR',
        'CgBI',
        'acTL',
        'VP8 ',
        'VP8X',
        'VP8L',
        'Exif\0\0',
        'MM\0*',
        'II*\0',
        '\u00ff\u00c0',
        'RIFF',
        'GIF89a',
      ],
      parse: (input) => {
        sniffMedia(input);
        describePage(input);
        return checkImage(input);
      },
      wrong: (result) => {
        const { ok, width, height } = result as { ok: boolean; width: number; height: number };
        if (ok && !(width > 0 && height > 0 && width * height <= MAX_IMAGE_PIXELS))
          return 'a size that is none';
        return wrongOfKinds('not_image', 'unreadable', 'too_large')(result);
      },
    },
    {
      name: 'data url',
      form: 'bytes',
      seeds: [
        Buffer.from(`data:image/png;base64,${makePng(2, 2).toString('base64')}`),
        Buffer.from('data:text/plain;charset=utf-8,a%20b%C3%BC'),
        Buffer.from('data:;base64,AAAA'),
      ],
      words: ['data:', ';base64', ',', '%', '%ff', '%00', '=', '==', ';charset=', ';a=b', 'image/png'],
      parse: (input) => readDataUrl(input.toString('utf8'), MAX_BYTES),
      wrong: wrongBytes,
    },
    {
      name: 'base64',
      form: 'bytes',
      seeds: [
        Buffer.from(makePng(2, 2).toString('base64')),
        Buffer.from('_-8='),
        Buffer.from('AAAA\nBBBB\r\n'),
      ],
      words: ['=', '==', '===', '\n', ' ', '-', '_', '+', '/', '\0', '\u00e9', 'A', 'data:,'],
      parse: (input) => readBase64(input.toString('utf8'), MAX_BYTES),
      wrong: (result, input) => {
        const bytes = result as Buffer | undefined;
        if (bytes === undefined) return undefined;
        // A text is the bytes' own Base64, or it is refused: nothing is left out of a paid result.
        const text = input.toString('utf8').replace(/\s+/g, '').replace(/=+$/, '');
        const own = bytes.toString('base64url').replace(/.$/, '');
        const same = text.replaceAll('+', '-').replaceAll('/', '_').startsWith(own);
        return same && text.length === bytes.toString('base64url').length
          ? wrongBytes(result)
          : 'other bytes';
      },
    },
    {
      name: 'content encoding',
      form: 'bytes',
      // The first byte chooses the encoding that the reply claims.
      seeds: [
        Buffer.concat([Buffer.from([1]), gzipSync('{"id":"t1","status":"queued"}')]),
        Buffer.concat([Buffer.from([2]), deflateSync('{"id":"t1"}')]),
        Buffer.concat([Buffer.from([3]), brotliCompressSync('{"id":"t1"}')]),
        Buffer.concat([Buffer.from([1]), gzipSync(Buffer.alloc(16 * MAX_BYTES))]),
        Buffer.concat([Buffer.from([3]), brotliCompressSync(Buffer.alloc(16 * MAX_BYTES))]),
      ],
      words: ['\u001f\u008b\b', '{"id":', '\0\0\u00ff\u00ff', 'x\u009c'],
      parse: (input) => {
        const encodings = ['', 'gzip', 'deflate', 'br', 'zstd', 'identity', 'gzip, gzip', ' GZIP '];
        return decodedBody(input.subarray(1), encodings[(input[0] ?? 0) % 8] ?? '', MAX_BYTES);
      },
      wrong: wrongBytes,
    },
    {
      name: 'bounded json',
      form: 'bytes',
      seeds: [
        Buffer.from('{"a":[1,{"b":"\\"[[["}],"c":"x"}'),
        Buffer.from('\ufeff[[[["\\\\"]]]]'),
        Buffer.from('null'),
      ],
      words: [
        '[',
        '{"a":',
        '"',
        '\\',
        '\\"',
        '\\\\',
        ']',
        '}',
        ',',
        '1e999',
        '\ufeff',
        'null',
        '{"__proto__":',
      ],
      parse: (input) => parseJsonBody(input),
      // What is read is exactly what any reader of JSON reads, down to a depth, but fields called __proto__.
      wrong: (result, input) => {
        if (result === undefined) return undefined;
        const text = input.toString('utf8').replace(/^\ufeff/, '');
        const plain: unknown = JSON.parse(text, (name, value: unknown) =>
          name === '__proto__' ? undefined : value,
        );
        return JSON.stringify(plain) === JSON.stringify(result) ? undefined : 'another value';
      },
    },
  ];
}

function wrongBytes(result: unknown): string | undefined {
  return result === undefined || (result as Buffer).length <= MAX_BYTES
    ? undefined
    : 'more bytes than allowed';
}
