import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { HTML, length, body, type DownloadCase } from './download-case';
import { chunk, endless, ok, raw, silence } from './raw-answers';

const BOMB = Buffer.alloc(4 * 1024 * 1024);

/** How a body comes: slowly, without an end, packed, or with a length that is none. */
export const TRANSFERS: readonly DownloadCase[] = [
  { name: 'headers that never come', content: () => silence, ends: 'not_ready', slow: true },
  {
    name: 'headers that drip',
    content: () => endless('HTTP/1.1 200 OK\r\nx-a: ', 'a', 20),
    ends: 'not_ready',
    slow: true,
  },
  {
    name: 'a header field that has no end',
    content: () => endless('HTTP/1.1 200 OK\r\nx-a: ', 'a'.repeat(8192)),
    ends: 'not_ready',
  },
  {
    name: 'header fields without an end',
    content: () => endless('HTTP/1.1 200 OK\r\n', 'x-a: b\r\n'.repeat(100)),
    ends: 'not_ready',
  },
  {
    name: 'interim replies without an end',
    content: () => endless('', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n', 10),
    ends: 'not_ready',
    slow: true,
  },
  {
    name: 'a flood of interim replies, then a video',
    content: ({ video }) =>
      raw(
        'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(500),
        `HTTP/1.1 200 OK\r\n${length(video)}\r\n\r\n`,
        video,
      ),
    ends: 'video',
  },
  {
    name: 'a body that drips',
    content: ({ video }) =>
      endless(
        Buffer.concat([
          Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 1900000\r\n\r\n'),
          video.subarray(0, 200),
        ]),
        'a',
        10,
      ),
    ends: 'not_ready',
    slow: true,
  },
  {
    name: 'a body that stops',
    content: ({ video }) =>
      endless(
        Buffer.concat([
          Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 1900000\r\n\r\n'),
          video.subarray(0, 200),
        ]),
        '',
        1000,
      ),
    ends: 'not_ready',
    slow: true,
  },
  {
    name: 'a page that drips',
    content: () => endless(`HTTP/1.1 200 OK\r\n\r\n${HTML}${' '.repeat(80)}`, ' ', 10),
    ends: 'not_video',
    kept: true,
    slow: true,
  },
  {
    name: 'a video without an end',
    content: ({ video }) =>
      endless(Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\n\r\n'), video]), Buffer.alloc(65_536)),
    ends: 'storage',
  },
  {
    name: 'a page without an end',
    content: () => endless(`HTTP/1.1 200 OK\r\n\r\n${HTML}`, 'x'.repeat(65_536)),
    ends: 'not_video',
    kept: true,
  },
  {
    name: 'zeros without an end',
    content: () => endless('HTTP/1.1 200 OK\r\n\r\n', Buffer.alloc(65_536)),
    ends: 'not_video',
    kept: true,
  },
  {
    name: 'a length over the limit',
    content: () => ok(['content-length: 9000000000000'], 'x'),
    ends: 'storage',
  },
  ...(
    [
      'gzip',
      'x-gzip',
      'br',
      'deflate',
      'zstd',
      'compress',
      'aes128gcm',
      'GZIP',
      'gzip, identity',
      Array(1000).fill('gzip').join(', '),
    ] as const
  ).map((encoding): DownloadCase => {
    const packed =
      encoding === 'br'
        ? brotliCompressSync(BOMB)
        : encoding === 'deflate'
          ? deflateSync(BOMB)
          : gzipSync(BOMB);
    return {
      name: `a bomb with content-encoding ${encoding.slice(0, 20)} of ${encoding.length} characters`,
      content: () => ok([length(packed), `content-encoding: ${encoding}`], packed),
      ends: 'not_video',
    };
  }),
  {
    name: 'two fields of content-encoding',
    content: body(() => gzipSync(BOMB), 'content-encoding: identity', 'content-encoding: gzip'),
    ends: 'not_video',
  },
  {
    name: 'a bomb that says nothing of its encoding',
    content: body(() => gzipSync(BOMB)),
    ends: 'not_video',
    kept: true,
  },
  {
    name: 'a whole video that calls itself gzip',
    content: body(({ video }) => video, 'content-encoding: gzip'),
    ends: 'not_video',
  },
  {
    name: 'a whole video that calls itself identity',
    content: body(({ video }) => video, 'content-encoding: identity'),
    ends: 'video',
  },
  {
    name: 'a length above the body',
    content: ({ video }) => ok([`content-length: ${video.length + 5}`], video),
    ends: 'not_ready',
  },
  {
    name: 'a length below the body',
    content: ({ video }) => ok([`content-length: ${video.length - 5}`], video),
    ends: 'incomplete_file',
    kept: true,
  },
  {
    name: 'two different lengths',
    content: ({ video }) => ok([length(video), 'content-length: 5'], video),
    ends: 'not_ready',
  },
  { name: 'a negative length', content: ({ video }) => ok(['content-length: -1'], video), ends: 'not_ready' },
  {
    name: 'a length with a sign',
    content: ({ video }) => ok([`content-length: +${video.length}`], video),
    ends: 'not_ready',
  },
  {
    name: 'a hexadecimal length',
    content: ({ video }) => ok([`content-length: 0x${video.length.toString(16)}`], video),
    ends: 'not_ready',
  },
  {
    name: 'a length of 30 digits',
    content: ({ video }) => ok([`content-length: ${'9'.repeat(30)}`], video),
    ends: 'not_ready',
  },
  {
    name: 'no length, closed in the middle',
    content: ({ video }) => ok([], video.subarray(0, video.length / 2)),
    ends: 'incomplete_file',
    kept: true,
  },
  {
    name: 'a length and chunks',
    content: ({ video }) =>
      ok(['content-length: 5', 'transfer-encoding: chunked'], chunk(video), '0\r\n\r\n'),
    ends: 'not_ready',
  },
  {
    name: 'a chunk that is cut',
    content: ({ video }) => ok(['transfer-encoding: chunked'], chunk(video).subarray(0, -9)),
    ends: 'not_ready',
  },
  {
    name: 'a chunk size that is none',
    content: ({ video }) => ok(['transfer-encoding: chunked'], 'zz\r\n', video),
    ends: 'not_ready',
  },
  {
    name: 'a chunk size of 64 bits',
    content: ({ video }) => ok(['transfer-encoding: chunked'], 'ffffffffffffffff\r\n', video),
    ends: 'not_ready',
  },
  {
    name: 'no last chunk',
    content: ({ video }) => ok(['transfer-encoding: chunked'], chunk(video)),
    ends: 'not_ready',
  },
  {
    name: 'trailers that contradict',
    content: ({ video }) =>
      ok(
        ['transfer-encoding: chunked', 'trailer: content-type'],
        chunk(video),
        '0\r\ncontent-type: text/html\r\ncontent-encoding: gzip\r\nset-cookie: a=b\r\n\r\n',
      ),
    ends: 'video',
  },
];
