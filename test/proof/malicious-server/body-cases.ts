import { type Answer, fileAnswer, inTurn, status } from '../../activities/download-harness';
import { box, topLevel } from '../../stores/artifacts/make-media';
import { HTML, JSON_PAGE, length, toMedia, body, type DownloadCase } from './download-case';
import { reply, silence } from './raw-answers';

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

const redirect = (location: string, ...fields: string[]): Answer =>
  reply(['HTTP/1.1 302 Found', `location: ${location}`, 'content-length: 0', ...fields]);

/** A box of the video, replaced. */
function changed(video: Buffer, type: string, change: (box: Buffer) => Buffer): Buffer {
  const parts = topLevel(video).map((one) => {
    const bytes = Buffer.from(video.subarray(one.start, one.end));
    return one.type === type ? change(bytes) : bytes;
  });
  return Buffer.concat(parts);
}

/** What a body holds, and what the words around it say. */
const BOXES = Buffer.concat(Array<Buffer>(100_001).fill(box('free')));

export const BODIES: readonly DownloadCase[] = [
  { name: 'JSON as video/mp4', content: body(() => JSON_PAGE), ends: 'not_video', kept: true },
  {
    name: 'JSON behind a byte order mark',
    content: body(() => Buffer.from(`\ufeff${JSON_PAGE}`)),
    ends: 'not_video',
    kept: true,
  },
  { name: 'HTML as video/mp4', content: body(() => HTML), ends: 'not_video', kept: true },
  { name: 'nothing as video/mp4', content: body(() => ''), ends: 'not_video', kept: true },
  { name: 'one byte', content: body(() => '\0'), ends: 'not_video', kept: true },
  {
    name: 'a picture as video/mp4',
    content: body(() => Buffer.concat([PNG, Buffer.alloc(100)])),
    ends: 'not_video',
    kept: true,
  },
  {
    name: 'a video as application/json',
    content: ({ video }) =>
      reply(['HTTP/1.1 200 OK', 'content-type: application/json', length(video)], video),
    ends: 'video',
  },
  {
    name: 'a page behind the first box',
    content: body(({ video }) =>
      Buffer.concat([video.subarray(0, topLevel(video)[0]!.end), Buffer.from(JSON_PAGE)]),
    ),
    ends: 'incomplete_file',
    kept: true,
  },
  {
    name: 'a page behind a whole video',
    content: body(({ video }) => Buffer.concat([video, Buffer.from(HTML)])),
    ends: 'more',
    more: Buffer.from(HTML),
  },
  {
    name: 'a video without moov',
    content: body(({ video }) => changed(video, 'moov', () => Buffer.alloc(0))),
    ends: 'incomplete_file',
    kept: true,
  },
  {
    name: 'a video without media data',
    content: body(({ video }) => changed(video, 'mdat', () => Buffer.alloc(0))),
    ends: 'incomplete_file',
    kept: true,
  },
  {
    name: 'a moov of size 0',
    content: body(({ video }) => changed(video, 'moov', (b) => (b.writeUInt32BE(0), b))),
    ends: 'incomplete_file',
    kept: true,
  },
  {
    name: 'a 64-bit size that overflows',
    content: body(({ video }) =>
      changed(video, 'mdat', (b) => (b.writeUInt32BE(1), b.writeBigUInt64BE(2n ** 64n - 1n, 8), b)),
    ),
    ends: 'incomplete_file',
    kept: true,
  },
  {
    name: 'four billion samples',
    content: body(({ video }) => {
      const b = Buffer.from(video);
      b.writeUInt32BE(0xffffffff, b.indexOf('stsz') + 12);
      return b;
    }),
    ends: 'incomplete_file',
    kept: true,
  },
  {
    name: 'a hundred thousand boxes',
    content: body(({ video }) => Buffer.concat([video, BOXES])),
    ends: 'more',
    more: BOXES,
    heavy: true,
  },
  {
    name: 'a thousand boxes in each other',
    content: body(({ video }) => {
      let nested: Buffer = box('trak');
      for (let depth = 0; depth < 1000; depth++) nested = box('trak', nested);
      return changed(video, 'moov', () => box('moov', nested));
    }),
    ends: 'incomplete_file',
    kept: true,
  },
  {
    name: 'a file name that climbs',
    content: body(
      ({ video }) => video,
      'content-disposition: attachment; filename="../../../../tmp/owned.mp4"',
      'content-location: ../../owned',
      'content-type: video/mp4; name="/etc/passwd"',
    ),
    ends: 'video',
  },
  {
    name: 'a result URL that climbs',
    content: () => status(404),
    record: (m) => ({ status: 'completed', url: toMedia(m, '/..%2f..%2f..%2fetc%2fpasswd%00.mp4') }),
    media: ({ video }) => fileAnswer(video),
    ends: 'video',
  },
  {
    name: 'a file of its own disk as result',
    content: () => status(404),
    record: () => ({
      status: 'completed',
      url: '/var/lib/videos/1.mp4',
      output: ['file:///etc/passwd', '\\\\host\\share', 'C:\\x.mp4'],
    }),
    ends: 'not_ready',
  },
  {
    name: 'result URLs of private networks',
    content: () => status(404),
    record: () => ({
      status: 'completed',
      urls: ['http://127.1:1/a', 'http://10.0.0.1/b', 'http://[::1]:1/c', 'http://169.254.169.254/d'],
    }),
    ends: 'blocked',
  },
  {
    name: 'a result URL with a user',
    content: () => status(404),
    record: (m) => ({ status: 'completed', url: toMedia(m).replace('//', '//u:p@') }),
    ends: 'blocked',
  },
  {
    name: 'a thousand result URLs',
    content: () => status(404),
    record: (m) => ({
      status: 'completed',
      urls: Array.from({ length: 1000 }, (_, index) => toMedia(m, `/${index}`)),
    }),
    ends: 'expired',
  },
  {
    name: 'result URLs that all hang',
    content: () => status(404),
    record: (m) => ({
      status: 'completed',
      urls: Array.from({ length: 3 }, (_, index) => toMedia(m, `/${index}`)),
    }),
    media: () => silence,
    ends: 'not_ready',
    slow: true,
  },
  {
    name: 'a data: URL that is no video',
    content: () => status(404),
    record: () => ({
      status: 'completed',
      url: `data:video/mp4;base64,${Buffer.from(JSON_PAGE).toString('base64')}`,
    }),
    ends: 'not_video',
    kept: true,
  },
  {
    name: 'a data: URL that is broken',
    content: () => status(404),
    record: () => ({ status: 'completed', url: 'data:video/mp4;base64,%%%=' }),
    ends: 'not_ready',
  },
  {
    name: 'an error that repeats the key',
    content: (m) =>
      status(
        404,
        { error: { code: m.key, message: `Bearer ${m.key}`, type: m.key } },
        { 'x-key': m.key, 'set-cookie': `k=${m.key}` },
      ),
    ends: 'not_ready',
  },
  {
    name: 'a page that repeats the key',
    content: body(({ key }) => `${HTML}<!-- authorization: Bearer ${key} -->`),
    ends: 'not_video',
    kept: true,
  },
  {
    name: 'cookies to be given back',
    content: (m) => redirect(toMedia(m), 'set-cookie: a=b; domain=127.0.0.1; path=/', 'set-cookie2: c=d'),
    media: ({ video }) => inTurn(status(503, '', { 'set-cookie': 'e=f' }), fileAnswer(video)),
    ends: 'video',
  },
];
