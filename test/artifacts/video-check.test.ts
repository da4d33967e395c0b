import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkVideo, notVideo } from '../../src/artifacts/video-check';
import { box, makeMp4 } from './make-media';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'temporal-media-check-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function check(bytes: Buffer) {
  const path = join(directory, 'file');
  await writeFile(path, bytes);
  return checkVideo(path);
}

describe('[C4.3] a file is video', () => {
  it('when it is a whole MP4, with facts and without a warning', async () => {
    expect(await check(await makeMp4())).toEqual({
      ok: true,
      mediaType: 'video/mp4',
      facts: { durationSeconds: 2, width: 64, height: 48, fps: 10, codec: 'avc1.42000a' },
      warnings: [],
    });
  });

  it.each([
    ['video/webm', Buffer.from('\x1a\x45\xdf\xa3\x42\x82\x84webm', 'latin1')],
    ['video/quicktime', Buffer.concat([box('ftyp', Buffer.from('qt  \0\0\0\0')), box('moov')])],
  ])('when it begins like %s, with a warning and without facts', async (mediaType, bytes) => {
    expect(await check(bytes)).toEqual({
      ok: true,
      mediaType,
      facts: null,
      warnings: [`The file is ${mediaType}, not MP4: its end was not verified.`],
    });
  });

  it.each([
    ['quicktime', 'a QuickTime file without its tables', box('ftyp', Buffer.from('qt  \0\0\0\0'))],
    [
      'quicktime',
      'a QuickTime file that is shorter than its last box',
      Buffer.concat([
        box('ftyp', Buffer.from('qt  \0\0\0\0')),
        box('moov'),
        box('mdat', Buffer.alloc(9)),
      ]).subarray(0, -1),
    ],
    [
      'webm',
      'a WebM file that is shorter than its segment',
      Buffer.from('\x1a\x45\xdf\xa3\x87\x42\x82\x84webm\x18\x53\x80\x67\x85abcd', 'latin1'),
    ],
  ])('not when it says %s and is %s', async (type, _name, bytes) => {
    const message = `The video/${type} file is cut.`;
    expect(await check(bytes)).toEqual({ ok: false, reason: 'incomplete_file', message });
  });

  it('when a QuickTime file holds what is no box, and when a WebM file does not say how long it is', async () => {
    const old = Buffer.concat([box('ftyp', Buffer.from('qt  \0\0\0\0')), Buffer.alloc(40, 0x01)]);
    expect(await check(old)).toMatchObject({ ok: true });
    const live = Buffer.from('\x1a\x45\xdf\xa3\x87\x42\x82\x84webm\x18\x53\x80\x67\xffabcd', 'latin1');
    expect(await check(live)).toMatchObject({ ok: true });
    const whole = Buffer.from('\x1a\x45\xdf\xa3\x87\x42\x82\x84webm\x18\x53\x80\x67\x84abcd', 'latin1');
    expect(await check(whole)).toMatchObject({ ok: true });
  });

  const EBML = '\x1a\x45\xdf\xa3\x87\x42\x82\x84webm';
  const SEGMENT = '\x18\x53\x80\x67';
  it.each([
    ['ends with the size of a segment', `${SEGMENT}\x85`, false],
    ['lacks a byte of a segment whose size has 2 bytes', `${SEGMENT}\x40\x05abcd`, false],
    ['has all of a segment whose size has 2 bytes', `${SEGMENT}\x40\x05abcde`, true],
    ['lacks most of a segment whose size has a high byte', `${SEGMENT}\x41\x00abcd`, false],
    ['lacks most of a segment whose size has 3 bytes', `${SEGMENT}\x20\x01\x00abcd`, false],
    ['lacks most of a segment whose size has 8 bytes', `${SEGMENT}\x01\0\0\0\0\0\0\x09abcd`, false],
    ['has all of a segment whose size has 8 bytes', `${SEGMENT}\x01\0\0\0\0\0\0\x04abcd`, true],
    ['has a live segment of 8 bytes', `${SEGMENT}\x01${'\xff'.repeat(7)}abcd`, true],
    ['has a size that is none', `${SEGMENT}\0${'\x01'.repeat(8)}abcd`, true],
    ['ends within the size of its segment', `${SEGMENT}\x41`, true],
    ['ends within the name of its segment', '\x18\x53', true],
    ['goes on with another element', '\x1f\x43\xb6\x75\x85abcd', true],
  ])('a WebM file that %s', async (_name, rest, ok) => {
    expect(await check(Buffer.from(EBML + rest, 'latin1'))).toMatchObject({ ok });
  });

  it('also when a WebM file does not say how long its first header is', async () => {
    const live = Buffer.from(`\x1a\x45\xdf\xa3\xff\x42\x82\x84webm${SEGMENT}\x85abcd`, 'latin1');
    expect(await check(live)).toMatchObject({ ok: true });
  });

  it('and its file is closed afterwards, whatever it is', async () => {
    const handle = await open(directory, 'r');
    const opened = jest.spyOn(Object.getPrototypeOf(handle) as typeof handle, 'stat');
    await handle.close();
    await check(Buffer.from('OggS'));
    await check(box('ftyp', Buffer.from('isom')));
    expect((opened.mock.contexts as (typeof handle)[]).map(({ fd }) => fd)).toEqual([-1, -1]);
    opened.mockRestore();
  });

  it('not when an MP4 is cut', async () => {
    expect(await check(box('ftyp', Buffer.from('isom')))).toEqual({
      ok: false,
      reason: 'incomplete_file',
      message: 'The file has no moov box.',
    });
  });

  it('not when it is audio or an image', async () => {
    expect(await check(Buffer.from('OggS'))).toEqual({
      ok: false,
      reason: 'not_video',
      message: 'The bytes are audio/ogg, not video.',
    });
  });

  it('not when it is nothing that anybody knows', async () => {
    expect(await check(Buffer.from('\x01\x02'))).toMatchObject({ ok: false, reason: 'not_video' });
  });

  it('not when there is no file: that is an error', async () => {
    await expect(checkVideo(join(directory, 'none'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

it.each([
  ['', 'The body is empty.'],
  ['{}', 'The body is json, not video.'],
  ['<html>', 'The body is html, not video.'],
  ['busy', 'The body is text, not video.'],
  ['\0', 'The bytes are not a known video format.'],
])('%j is told as what it is', (text, message) => {
  expect(notVideo(Buffer.from(text))).toBe(message);
});
