import { type Answer, fileAnswer, inTurn, status } from '../../activities/download-harness';
import { length, toMedia, type DownloadCase, type Material } from './download-case';
import { chunk, endless, reply } from './raw-answers';

const ranged = (
  head: (from: number, video: Buffer) => string[],
  body: (from: number, m: Material) => Buffer,
) => {
  return (m: Material): Answer =>
    inTurn(
      m.harness.cut(m.video, 5_000, '"e1"'),
      (request, response) => {
        const from = Number(/\d+/.exec(request.headers.range ?? '')?.[0] ?? 0);
        reply(['HTTP/1.1 206 Partial Content', ...head(from, m.video)], body(from, m))(request, response);
      },
      fileAnswer(m.other, '"e2"'),
    );
};

const rest = (from: number, { video }: Material) => video.subarray(from);

const redirect = (location: string, ...fields: string[]): Answer =>
  reply(['HTTP/1.1 302 Found', `location: ${location}`, 'content-length: 0', ...fields]);

/** Where a reply leads, and parts that nobody asked for. */
export const REDIRECTS: readonly DownloadCase[] = [
  {
    name: 'a redirect to itself',
    content: (m) => redirect(`${m.harness.serviceOrigin}/prefix/v1/videos/task%2F1%20%C3%BC/content`),
    ends: 'blocked',
  },
  {
    name: 'a chain of redirects without an end',
    content: (m) => redirect(toMedia(m, '/1')),
    media: () => (request, response) => redirect(`/${Number(request.url!.slice(1)) + 1}`)(request, response),
    ends: 'blocked',
  },
  {
    name: 'a relative redirect on another origin',
    content: (m) => redirect(toMedia(m, '/a/b')),
    media:
      ({ video }) =>
      (request, response) =>
        (request.url === '/a/b' ? redirect('../c') : fileAnswer(video))(request, response),
    ends: 'video',
  },
  {
    name: 'a redirect without a scheme',
    content: (m) => redirect(toMedia(m).replace('http:', ''), 'set-cookie: session=secret'),
    media: ({ video }) => fileAnswer(video),
    ends: 'video',
  },
  {
    name: 'a redirect to the addresses of a cloud',
    content: () => redirect('http://169.254.169.254/latest/meta-data/'),
    ends: 'blocked',
  },
  {
    name: 'a redirect over another origin to this machine',
    content: (m) => redirect(toMedia(m)),
    media: () => redirect('http://[::ffff:127.0.0.1]:1/'),
    ends: 'blocked',
  },
  {
    name: 'a redirect with the key in it',
    content: (m) => redirect(`${toMedia(m)}?sig=1`, `authorization: Bearer ${m.key}`),
    media: ({ video }) => fileAnswer(video),
    ends: 'video',
  },
  {
    name: 'a redirect with a user in it',
    content: (m) => redirect(toMedia(m).replace('//', '//user:password@')),
    ends: 'blocked',
  },
  { name: 'a redirect to a file', content: () => redirect('file:///etc/passwd'), ends: 'blocked' },
  { name: 'a redirect to a script', content: () => redirect('javascript:alert(1)'), ends: 'blocked' },
  { name: 'a redirect to nowhere', content: () => redirect('http://[::1'), ends: 'blocked' },
  {
    name: 'a redirect without a place',
    content: () => reply(['HTTP/1.1 302 Found', 'content-length: 0']),
    ends: 'not_ready',
  },
  {
    name: 'two places',
    content: (m) => redirect(toMedia(m), 'location: http://169.254.169.254/'),
    ends: 'not_ready',
  },
  {
    name: 'a place of 100,000 characters',
    content: (m) => redirect(toMedia(m, `/${'a'.repeat(100_000)}`)),
    ends: 'not_ready',
  },
  {
    name: 'a redirect with a body without an end',
    content: (m) => endless(`HTTP/1.1 302 Found\r\nlocation: ${toMedia(m)}\r\n\r\n`, 'x'.repeat(65_536)),
    media: ({ video }) => fileAnswer(video),
    ends: 'video',
  },
  {
    name: 'a proxy to use',
    content: (m) => reply(['HTTP/1.1 305 Use Proxy', `location: ${toMedia(m)}`, 'content-length: 0']),
    ends: 'not_ready',
  },
  {
    name: 'a part that is the whole',
    content: ({ video }) =>
      reply(
        [
          'HTTP/1.1 206 Partial Content',
          length(video),
          `content-range: bytes 0-${video.length - 1}/${video.length}`,
        ],
        video,
      ),
    ends: 'video',
  },
  {
    name: 'a part that nobody asked for',
    content: ({ video }) =>
      reply(
        ['HTTP/1.1 206 Partial Content', 'content-length: 100', `content-range: bytes 0-99/${video.length}`],
        video.subarray(0, 100),
      ),
    ends: 'incomplete_file',
  },
  {
    name: 'a part of another file to a resume',
    content: ranged(
      (from, { length: all }) => [
        'etag: "e2"',
        `content-range: bytes ${from}-${all - 1}/${all}`,
        `content-length: ${all - from}`,
      ],
      rest,
    ),
    ends: 'other',
  },
  {
    name: 'a part without an ETag to a resume',
    content: ranged(
      (from, { length: all }) => [
        `content-range: bytes ${from}-${all - 1}/${all}`,
        `content-length: ${all - from}`,
      ],
      rest,
    ),
    ends: 'other',
  },
  {
    name: 'a part from another place to a resume',
    content: ranged(
      (_from, { length: all }) => [
        'etag: "e1"',
        `content-range: bytes 7-${all - 1}/${all}`,
        `content-length: ${all - 7}`,
      ],
      (_from, { video }) => video.subarray(7),
    ),
    ends: 'other',
  },
  {
    name: 'a part of a longer file to a resume',
    content: ranged(
      (from, { length: all }) => [
        'etag: "e1"',
        `content-range: bytes ${from}-${all - 1}/${all + 1}`,
        `content-length: ${all - from}`,
      ],
      rest,
    ),
    ends: 'other',
  },
  {
    name: 'a part without a range to a resume',
    content: ranged((from, { length: all }) => ['etag: "e1"', `content-length: ${all - from}`], rest),
    ends: 'other',
  },
  {
    name: 'several parts to a resume',
    content: ranged(
      (from, { length: all }) => [
        'etag: "e1"',
        'content-type: multipart/byteranges; boundary=x',
        `content-length: ${all - from}`,
      ],
      rest,
    ),
    ends: 'other',
  },
  {
    name: 'a packed part to a resume',
    content: ranged(
      (from, { length: all }) => [
        'etag: "e1"',
        'content-encoding: gzip',
        `content-range: bytes ${from}-${all - 1}/${all}`,
        `content-length: ${all - from}`,
      ],
      rest,
    ),
    ends: 'other',
  },
  {
    name: 'a part that is longer than it says to a resume',
    content: ranged(
      (from, { length: all }) => [
        'etag: "e1"',
        `content-range: bytes ${from}-${all - 1}/${all}`,
        'transfer-encoding: chunked',
      ],
      (from, { video }) =>
        Buffer.concat([
          chunk(Buffer.concat([video.subarray(from), Buffer.alloc(50)])),
          Buffer.from('0\r\n\r\n'),
        ]),
    ),
    ends: 'other',
  },
  {
    name: 'a weak ETag',
    content: (m) => inTurn(m.harness.cut(m.video, 5_000, 'W/"e1"'), fileAnswer(m.other)),
    ends: 'other',
  },
  {
    name: '416 to a resume',
    content: (m) => inTurn(m.harness.cut(m.video, 5_000, '"e1"'), status(416), fileAnswer(m.other)),
    ends: 'other',
  },
];
