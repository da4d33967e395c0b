import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { checkVideo, notVideo } from '../../../src/stores/artifacts/video-check';
import {
  avi,
  chunk,
  cluster,
  ebml,
  element,
  live,
  matroska,
  segment,
  SOUND,
  tracks,
  transportStream,
  webm,
} from './make-containers';
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

  it('when it is a whole QuickTime file, with facts and without a warning', async () => {
    const bytes = Buffer.from(await makeMp4());
    bytes.write('qt  ', 8, 'latin1');
    expect(await check(bytes)).toMatchObject({
      ok: true,
      mediaType: 'video/quicktime',
      facts: { fps: 10 },
      warnings: [],
    });
  });

  it.each(['M4A ', 'M4B ', 'avif', 'heic', 'mif1', 'avis', 'msf1', 'hevc', 'dash', 'msdh', 'xxxx'])(
    'when it has pictures and the brand %j',
    async (brand) => {
      const bytes = Buffer.from(await makeMp4());
      bytes.write(brand, 8, 'latin1');
      expect(await check(bytes)).toMatchObject({ ok: true, mediaType: 'video/mp4', warnings: [] });
    },
  );

  it.each<[string, Buffer]>([
    ['video/webm', webm()],
    ['video/matroska', matroska(1)],
    ['video/matroska', matroska(SOUND, 17, 1)],
    ['video/mp2t', transportStream([[0x0f], [0x1b]])],
    ['video/mp2t', transportStream([[0x24]], 192)],
    ['video/mp2t', transportStream([[0x02]], 204)],
    ['video/mp2t', transportStream([[0x06, '\x05\x04AV01']])],
    ['video/x-msvideo', avi(['auds', 'vids'])],
    ['video/x-msvideo', avi(['iavs'])],
  ])('when it is %s with a picture, with a warning and without facts', async (mediaType, bytes) => {
    const kept = {
      ok: true,
      mediaType,
      facts: null,
      warnings: [`The file is ${mediaType}, not MP4, so its end was not verified.`],
    };
    expect(await check(bytes)).toEqual(kept);
    // Bytes behind the end are no part of it.
    for (const tail of [Buffer.alloc(4), Buffer.from(`TAG${'Title'.padEnd(125)}`)])
      expect(await check(Buffer.concat([bytes, tail]))).toEqual(kept);
  });

  it.each<[string, Buffer]>([
    ['video/matroska', matroska(SOUND)],
    ['video/matroska', Buffer.concat([ebml('matroska'), segment([cluster(40)])])],
    ['video/webm', Buffer.concat([ebml('webm'), segment([tracks(SOUND), cluster(9)])])],
    ['video/webm', ebml('webm')],
    ['video/mp2t', transportStream([[0x0f], [0x06, '\x05\x04Opus']])],
    ['video/mp2t', transportStream([])],
    ['video/x-msvideo', avi(['auds'])],
    ['video/x-msvideo', avi([])],
    ['video/x-msvideo', Buffer.from('RIFF\x04\0\0\0AVI ', 'latin1')],
  ])('not when it is %s without a picture', async (mediaType, bytes) => {
    const message = `The ${mediaType} file has no picture track.`;
    expect(await check(bytes)).toEqual({ ok: false, reason: 'not_video', message });
  });

  it.each<[string, Buffer]>([
    ['video/webm', webm()],
    ['video/matroska', matroska(1)],
    ['video/mp2t', transportStream([[0x1b]])],
    ['video/mp2t', transportStream([[0x1b]], 192)],
    ['video/x-msvideo', avi(['vids'])],
  ])('not when it is %s and cut', async (mediaType, bytes) => {
    const message = `The ${mediaType} file is truncated.`;
    for (const cut of [1, 20, 60])
      expect([cut, await check(bytes.subarray(0, bytes.length - cut))]).toEqual([
        cut,
        { ok: false, reason: 'incomplete_file', message },
      ]);
  });

  it('a live recording is cut where its last element is', async () => {
    const open = [ebml('webm'), segment([tracks(1), cluster(30), cluster(30, live)], live)];
    const bytes = Buffer.concat(open);
    expect(await check(bytes)).toMatchObject({ ok: true });
    expect(await check(bytes.subarray(0, -1))).toMatchObject({ reason: 'incomplete_file' });
    // Between two elements nothing shows.
    expect(await check(bytes.subarray(0, -32))).toMatchObject({ ok: true });
    const first = bytes.subarray(0, -37);
    expect(await check(first)).toMatchObject({ ok: true });
    expect(await check(first.subarray(0, -1))).toMatchObject({ reason: 'incomplete_file' });
  });

  it('a Matroska file may have its tracks behind its media, and lengths of any width', async () => {
    for (const width of [2, 3, 8]) {
      const parts = [cluster(9, { width }), element(0xec, Buffer.alloc(5), { width }), tracks(1)];
      const bytes = Buffer.concat([ebml('matroska'), segment(parts, { width })]);
      expect(await check(bytes)).toMatchObject({ ok: true });
      expect(await check(bytes.subarray(0, -1))).toMatchObject({ reason: 'incomplete_file' });
    }
  });

  it('an AVI file of several parts is cut where one of them is, and one that was interrupted says nothing', async () => {
    const whole = Buffer.concat([avi(['vids']), chunk('RIFF', Buffer.from('AVIXmore '))]);
    expect(await check(whole)).toMatchObject({ ok: true });
    expect(await check(whole.subarray(0, -2))).toMatchObject({ reason: 'incomplete_file' });
    for (const length of [0, 0xffffffff])
      expect(await check(avi(['vids'], length))).toMatchObject({ ok: true });
  });

  it('never throws for bytes that are damaged anywhere', async () => {
    const files = [webm(), matroska(1), transportStream([[0x1b]]), avi(['vids'])];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...files),
        fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { maxLength: 6 }),
        fc.nat(),
        async (file, changes, length) => {
          const bytes = Buffer.from(file.subarray(0, length % (file.length + 1)));
          for (const [at, value] of changes) if (bytes.length > 0) bytes[at % bytes.length] = value;
          const result = await check(bytes);
          if (!result.ok) expect(['not_video', 'incomplete_file']).toContain(result.reason);
        },
      ),
      { numRuns: 300 },
    );
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
      message: 'The content is audio/ogg, not video.',
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
  ['\0', 'The content is not a known video format.'],
])('%j is told as what it is', (text, message) => {
  expect(notVideo(Buffer.from(text))).toBe(message);
});
