import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { storeImages } from '../../../src/activities/image-results';
import { NO_JOURNAL } from '../../../src/domain/journal';
import { FileArtifactStore } from '../../../src/stores/artifacts/file-store';
import { type Answer } from '../../activities/download-harness';
import { clientOf, jsonBody, KEY, send } from '../../service/client-under-test';
import { loopback } from '../../service/loopback-service';
import { makePng } from '../../stores/artifacts/make-media';
import { endless, reply, reset, silence } from './raw-answers';

export interface ImageCase {
  readonly name: string;
  /** The reply, or the `data` in it; `MEDIA` stands for the other origin. */
  readonly data?: unknown;
  readonly answer?: Answer;
  readonly media?: Answer;
  /** Outcome and reason; of a reply that cannot be read, its class and cause. */
  readonly says: readonly [outcome: string, reason?: string];
  /** The media type of the first image, where one is stored. */
  readonly stored?: string;
}

const PNG = makePng(2, 2);
/** Begins of files that claim to be larger than any memory. */
const claims = {
  png(width: number, height: number) {
    const bytes = Buffer.from(PNG);
    bytes.writeUInt32BE(width, 16);
    bytes.writeUInt32BE(height, 20);
    return bytes;
  },
  gif: Buffer.concat([Buffer.from('GIF89a'), Buffer.from('ffffffff', 'hex'), Buffer.alloc(40)]),
  webp: Buffer.concat([
    Buffer.from('RIFF\x50\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0', 'latin1'),
    Buffer.from('ffffffffffff', 'hex'),
    Buffer.alloc(40),
  ]),
  jpeg: Buffer.concat([
    Buffer.from('ffd8ffe000104a46494600010100000100010000ffc0001108ffffffff03012200021101031101', 'hex'),
    Buffer.alloc(40),
  ]),
};
const JPEG = Buffer.concat([
  Buffer.from('ffd8ffe000104a46494600010100000100010000ffc0001108000200020301220002110103110100', 'hex'),
  Buffer.alloc(40),
]);
const base64 = (bytes: Uint8Array | string) => Buffer.from(bytes as string).toString('base64');
const b64 = (text: unknown) => [{ b64_json: text }];
const image = (bytes: Uint8Array, ...fields: string[]): Answer =>
  reply(['HTTP/1.1 200 OK', 'content-type: image/png', `content-length: ${bytes.length}`, ...fields], bytes);
const url = [{ url: 'MEDIA/generated/1.png' }];
const LOST = 'results_lost';

export const IMAGES: readonly ImageCase[] = [
  {
    name: 'Base64 behind data:',
    data: b64(`data:image/png;base64,${base64(PNG)}`),
    says: ['completed'],
    stored: 'image/png',
  },
  {
    name: 'Base64 of another type than it says',
    data: b64(`data:image/png;base64,${base64(JPEG)}`),
    says: ['completed'],
    stored: 'image/jpeg',
  },
  {
    name: 'Base64 full of blanks',
    data: b64(base64(PNG).replace(/(.)/g, '$1\r\n\t ')),
    says: ['completed'],
    stored: 'image/png',
  },
  { name: 'Base64 for URLs', data: b64(PNG.toString('base64url')), says: ['completed'], stored: 'image/png' },
  ...['A', 'AAAA=AAA', '====', '!!!!', 'AA==AA==', '\u0000\u0000', 'ＡＡＡＡ'].map((text): ImageCase => ({
    name: `no Base64: ${JSON.stringify(text)}`,
    data: b64(text),
    says: [LOST, 'invalid_base64'],
  })),
  ...[7, null, {}, [], true, ''].map((value): ImageCase => ({
    name: `b64_json ${JSON.stringify(value)}`,
    data: b64(value),
    says: [LOST, 'neither_url_nor_base64'],
  })),
  ...[null, 7, 'x', []].map((item): ImageCase => ({
    name: `an item that is ${JSON.stringify(item)}`,
    data: [item],
    says: [LOST],
  })),
  {
    name: '50,000 x 50,000 pixels in PNG',
    data: b64(base64(claims.png(50_000, 50_000))),
    says: [LOST, 'too_large'],
  },
  {
    name: '2^32 - 1 pixels a side in PNG',
    data: b64(base64(claims.png(0xffffffff, 0xffffffff))),
    says: [LOST, 'too_large'],
  },
  { name: 'no pixels in PNG', data: b64(base64(claims.png(0, 5))), says: [LOST, 'unreadable'] },
  { name: '65,535 x 65,535 pixels in GIF', data: b64(base64(claims.gif)), says: [LOST, 'too_large'] },
  {
    name: '16,777,216 x 16,777,216 pixels in WebP',
    data: b64(base64(claims.webp)),
    says: [LOST, 'too_large'],
  },
  { name: '65,535 x 65,535 pixels in JPEG', data: b64(base64(claims.jpeg)), says: [LOST, 'too_large'] },
  { name: 'a PNG of 10 bytes', data: b64(base64(PNG.subarray(0, 10))), says: [LOST, 'unreadable'] },
  { name: 'a JPEG of 4 bytes', data: b64(base64(JPEG.subarray(0, 4))), says: [LOST, 'unreadable'] },
  {
    name: 'a JPEG of markers without an end',
    data: b64(base64(Buffer.concat([JPEG.subarray(0, 2), Buffer.alloc(300_000, 'ffe00002', 'hex')]))),
    says: [LOST, 'unreadable'],
  },
  {
    name: 'an HTML page in Base64',
    data: b64(base64('<!doctype html><script>alert(1)</script>')),
    says: [LOST, 'not_image'],
  },
  {
    name: 'an SVG in Base64',
    data: b64(base64('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')),
    says: [LOST, 'not_image'],
  },
  { name: 'a ZIP in Base64', data: b64(base64(Buffer.from('504b0304', 'hex'))), says: [LOST, 'not_image'] },
  { name: 'nothing at all', data: [], says: [LOST, 'no_results'] },
  { name: 'no list', data: { 0: b64(base64(PNG)) }, says: ['unconfirmed', 'reply_without_data'] },
  {
    name: 'a list in the prototype',
    answer: image(Buffer.from('{"__proto__":{"data":[]}}')),
    says: ['unconfirmed', 'reply_without_data'],
  },
  {
    name: '100,000 arrays in each other',
    answer: image(Buffer.from('['.repeat(100_000))),
    says: ['unconfirmed', 'reply_unreadable'],
  },
  { name: '1,000 items that are none', data: Array(1000).fill({ url: 'x' }), says: [LOST, 'invalid_url'] },
  {
    name: '90,000 items that are none',
    data: Array(90_000).fill(0),
    says: [LOST, 'not_an_object'],
  },
  { name: 'a file as address', data: [{ url: 'file:///etc/passwd' }], says: [LOST, 'invalid_url'] },
  { name: 'a script as address', data: [{ url: 'javascript:alert(1)' }], says: [LOST, 'invalid_url'] },
  { name: 'a path of the disk as address', data: [{ url: '/tmp/1.png' }], says: [LOST, 'invalid_url'] },
  {
    name: 'the addresses of a cloud',
    data: [{ url: 'http://169.254.169.254/latest/' }],
    says: [LOST, 'blocked'],
  },
  {
    name: 'this machine in other words',
    data: [{ url: 'http://[::ffff:7f00:1]:1/1.png' }],
    says: [LOST, 'blocked'],
  },
  { name: 'an address with a user', data: [{ url: 'http://u:p@media.test/1.png' }], says: [LOST, 'blocked'] },
  {
    name: 'a data: address of a page',
    data: [{ url: `data:image/png;base64,${base64('<html>')}` }],
    says: [LOST, 'not_image'],
  },
  {
    name: 'a good picture elsewhere',
    data: url,
    media: image(PNG, 'content-disposition: attachment; filename="../../x.png"', 'set-cookie: a=b'),
    says: ['completed'],
    stored: 'image/png',
  },
  {
    name: 'a page elsewhere',
    data: url,
    media: image(Buffer.from('{"error":"expired"}')),
    says: [LOST, 'not_image'],
  },
  {
    name: 'a packed picture elsewhere',
    data: url,
    media: image(gzipSync(PNG), 'content-encoding: gzip'),
    says: [LOST, 'not_image'],
  },
  {
    name: 'a picture that claims too much elsewhere',
    data: url,
    media: image(claims.png(50_000, 50_000)),
    says: [LOST, 'too_large'],
  },
  {
    name: 'a picture that is cut',
    data: url,
    media: reply(['HTTP/1.1 200 OK', 'content-length: 5000'], PNG),
    says: [LOST, 'incomplete_file'],
  },
  {
    name: 'a picture that drips',
    data: url,
    media: endless('HTTP/1.1 200 OK\r\n\r\n', 'a', 20),
    says: [LOST, 'incomplete_file'],
  },
  { name: 'a picture that never comes', data: url, media: silence, says: [LOST, 'aborted'] },
  { name: 'a reset', data: url, media: reset, says: [LOST] },
  {
    name: 'a redirect to this machine',
    data: url,
    media: reply(['HTTP/1.1 302 Found', 'location: http://127.0.0.1:1/']),
    says: [LOST, 'blocked'],
  },
  {
    name: 'a refusal that repeats what it got',
    data: url,
    media: reply(['HTTP/1.1 403 No', 'content-length: 2'], '{}'),
    says: [LOST, 'http_403'],
  },
  {
    name: 'a wait of three years',
    data: url,
    media: reply(['HTTP/1.1 503 Busy', 'retry-after: 99999999', 'content-length: 0']),
    says: [LOST, 'http_503'],
  },
];

/** A generation and what becomes of its results. @returns keys and cookies that the other origin was told */
export async function runImageCase({
  data,
  answer,
  media: elsewhere,
  says,
  stored,
}: ImageCase): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'malicious-image-'));
  const media = await loopback((request, response) => (elsewhere ?? silence)(request as never, response));
  const service = await loopback((request, response) => {
    const text = JSON.stringify({ created: 1e308, data }).replaceAll('MEDIA', media.origin);
    (answer ?? image(Buffer.from(text)))(request as never, response);
  });
  const client = clientOf(service.origin, { allowedMediaOrigins: [media.origin] });
  try {
    const reply = await client.generateImage(jsonBody(), send());
    if (reply.class !== 'accepted') {
      expect(reply).toMatchObject({ class: says[0], cause: says[1] });
      return 0;
    }
    const result = await storeImages(reply, {
      base: { sendAttempt: 0, sent: true, account: 'default@00000000', estimate: null },
      client,
      artifacts: new FileArtifactStore(folder),
      requested: 1,
      warnings: [],
      journal: NO_JOURNAL,
      // A result that never comes is given up by then; the others take milliseconds.
      deadlineAt: performance.now() + 1_500,
    });
    expect(result).toMatchObject({
      outcome: says[0],
      ...(says[1] === undefined || says[0] === 'completed' ? {} : { reason: says[1] }),
      ...(stored === undefined ? {} : { images: [{ mediaType: stored }] }),
    });
    expect(JSON.stringify(result)).not.toContain(KEY);
    const names = await readdir(folder, { recursive: true, withFileTypes: true });
    for (const file of names.filter((entry) => entry.isFile())) expect(file.name).toMatch(/^[0-9a-f]{64}$/);
    const hashes = stored === undefined ? 0 : 1;
    expect(names.filter((entry) => entry.isFile())).toHaveLength(hashes);
    return media.seen.filter(
      ({ rawHeaders }) => /authorization|cookie/i.test(rawHeaders.join()) || rawHeaders.join().includes(KEY),
    ).length;
  } finally {
    await client.close();
    await Promise.all([service.close(), media.close(), rm(folder, { recursive: true, force: true })]);
  }
}
