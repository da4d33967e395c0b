import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { videoTaskById } from '../../src/domain/video-task';
import { list, table, trak } from '../stores/artifacts/make-boxes';
import { avi, matroska, transportStream } from '../stores/artifacts/make-containers';
import { box, makeMp4, makePng } from '../stores/artifacts/make-media';
import {
  type Answer,
  API_KEY,
  DownloadHarness,
  fileAnswer,
  inTurn,
  sha256,
  status,
  TASK_ID,
} from './download-harness';

let harness: DownloadHarness;
let mp4: Buffer;
let other: Buffer;
beforeAll(async () => {
  [mp4, other] = [await makeMp4(20), await makeMp4(20, 99)];
});
beforeEach(async () => {
  harness = await DownloadHarness.open();
});
afterEach(() => harness.close());

it('[C3.2] [C4.1] fetches, verifies and stores the video by the content endpoint', async () => {
  harness.content = fileAnswer(mp4);
  harness.media = fileAnswer(other);
  harness.record = {
    status: 'completed',
    url: `${harness.mediaOrigin}/a.mp4`,
    usage: { total: 3 },
    resolution: '720p',
    seconds: '2',
  };
  const { result, failures } = await harness.run();
  expect(failures).toEqual([]);
  expect(result).toMatchObject({
    outcome: 'downloaded',
    artifact: { mediaType: 'video/mp4', bytes: mp4.length, sha256: sha256(mp4) },
    usage: { total: 3 },
    reported: { resolution: '720p', durationSeconds: 2 },
    warnings: [],
  });
  expect((await buffer(await harness.store.read({ sha256: sha256(mp4) }))).equals(mp4)).toBe(true);
  expect([harness.count('record'), harness.count('content'), harness.count('media')]).toEqual([1, 1, 0]);
  expect(await harness.parts()).toEqual([]);
});

it('[C5.1] [C5.3] [C4.8] follows a redirect to another host without the key', async () => {
  harness.content = status(302, '', {
    location: `${harness.mediaOrigin}/signed.mp4?signature=private`,
    'set-cookie': 'a=b',
  });
  harness.media = fileAnswer(mp4);
  const { result } = await harness.run();
  expect(result).toMatchObject({ outcome: 'downloaded', artifact: { sha256: sha256(mp4) } });
  const headersAt = (place: string) => harness.seen.find((entry) => entry.place === place)!.request.headers;
  expect(headersAt('content').authorization).toBe(`Bearer ${API_KEY}`);
  expect(headersAt('media')).not.toHaveProperty('authorization');
  expect(headersAt('media')).not.toHaveProperty('cookie');
  expect(headersAt('media')['accept-encoding']).toBe('identity');
});

it('[C4.3] a JSON page with status 200 is not a video: kept aside, tried again, and the video that comes later is taken', async () => {
  const page = JSON.stringify({ error: { message: 'still being copied', padding: 'x'.repeat(200) } });
  harness.content = inTurn(status(200, page, { 'content-type': 'video/mp4' }), fileAnswer(mp4));
  const { result, failures } = await harness.run();
  expect(failures.map((failure) => failure.class)).toEqual(['not_video']);
  expect(result).toMatchObject({ outcome: 'downloaded', artifact: { sha256: sha256(mp4) } });
  expect(await harness.store.has(sha256(Buffer.from(page)))).toBeNull();
  expect(
    await readFile(join(harness.root, 'rejected', `${sha256(Buffer.from(page))}.rejected`), 'utf8'),
  ).toBe(page);
});

it('[C4.3] a page that stays is reported with the refused bytes, never stored as a video', async () => {
  harness.content = status(200, '<html>502</html>', { 'content-type': 'video/mp4' });
  const { result } = await harness.run();
  expect(result).toMatchObject({
    outcome: 'content_unavailable',
    reason: 'not_video',
    message: 'The body is html, not video.',
    rejected: { bytes: 16, sha256: sha256(Buffer.from('<html>502</html>')) },
  });
  expect(await readdir(harness.root)).not.toContain('sha256');
});

it('a page without an end is not read on', async () => {
  harness.content = inTurn((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const more = () => {
      if (!response.destroyed) response.write('{"a":"'.padEnd(16_384, 'b'), () => setImmediate(more));
    };
    more();
  }, fileAnswer(mp4));
  const { result } = await harness.run();
  expect(result.outcome).toBe('downloaded');
});

it('video bytes are taken whatever the type says', async () => {
  harness.content = (_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(mp4);
  expect((await harness.run()).result).toMatchObject({ artifact: { mediaType: 'video/mp4' } });
});

it("[C4.1] [C2.2.6] the record's URL is the fallback at once, whatever its name", async () => {
  harness.content = status(404);
  harness.media = fileAnswer(mp4);
  harness.record = { status: 'completed', output: { video_url: `${harness.mediaOrigin}/b.mp4?sig=private` } };
  const { result, failures } = await harness.run();
  expect(failures).toEqual([]);
  expect(result).toMatchObject({ outcome: 'downloaded', artifact: { sha256: sha256(mp4) } });
  const stored = Buffer.concat(
    await Promise.all(
      [result.outcome === 'downloaded' ? result.sidecar! : undefined].map((ref) =>
        harness.store.read(ref!).then(buffer),
      ),
    ),
  );
  for (const text of [JSON.stringify(result), JSON.stringify(harness.heartbeats), stored.toString()]) {
    expect(text).not.toContain('private');
    expect(text).not.toContain('127.0.0.1');
    expect(text).not.toContain(API_KEY);
  }
});

it('[C5.4a] a data: URL that holds no video is kept in part only, without keys, however long it is', async () => {
  const page = `<html>${API_KEY}${' a://'.repeat(1_000_000)}`;
  harness.record = {
    status: 'completed',
    url: `data:video/mp4;base64,${Buffer.from(page).toString('base64')}`,
  };
  harness.bounds = { maxTries: 1 };
  const { result } = await harness.run();
  expect(result).toMatchObject({ outcome: 'content_unavailable', rejected: { bytes: 64 * 1024 } });
  const rejected = result.outcome === 'content_unavailable' ? result.rejected! : undefined;
  const kept = await readFile(join(harness.root, 'rejected', `${rejected!.sha256}.rejected`), 'utf8');
  expect(kept).toMatch(/^<html>\[removed\] a:/);
});

it('a video inside a data: URL of the record is taken', async () => {
  harness.record = { status: 'completed', url: `data:video/mp4;base64,${mp4.toString('base64')}` };
  expect((await harness.run()).result).toMatchObject({
    outcome: 'downloaded',
    artifact: { sha256: sha256(mp4) },
  });
});

it('[C4.3] a file that was cut on the way to the service is fetched again a few times, then reported as incomplete', async () => {
  const cut = mp4.subarray(0, 40_000);
  harness.content = inTurn(fileAnswer(cut), fileAnswer(mp4));
  expect((await harness.run()).result.outcome).toBe('downloaded');
  harness.content = fileAnswer(cut);
  harness.heartbeats.length = 0;
  const { result } = await harness.run();
  expect(result).toMatchObject({
    outcome: 'content_unavailable',
    reason: 'incomplete_file',
    tries: 3,
    rejected: { sha256: sha256(cut) },
  });
  expect(await harness.store.has(sha256(cut))).toBeNull();
});

it('the record is read as far as possible: without it the video is taken all the same', async () => {
  harness.recordStatus = 500;
  harness.record = { error: 'broken' };
  harness.content = fileAnswer(mp4);
  const { result } = await harness.run();
  expect(result).toMatchObject({
    outcome: 'downloaded',
    reported: {},
    warnings: [expect.stringContaining('record')],
  });
});

it('a body over the limit is not stored', async () => {
  harness.content = fileAnswer(mp4);
  harness.bounds = { maxBytes: 50_000 };
  expect((await harness.run()).result).toMatchObject({ reason: 'storage', tries: 1 });
  harness.content = (_request, response) => {
    response.writeHead(200);
    response.write(mp4.subarray(0, 30_000));
    response.end(mp4.subarray(30_000));
  };
  expect((await harness.run()).result).toMatchObject({ reason: 'storage', tries: 1 });
  expect(await harness.parts()).toEqual([]);
});

it('an encoding that was not asked for is refused', async () => {
  harness.content = inTurn(status(200, 'x'.repeat(100), { 'content-encoding': 'gzip' }), fileAnswer(mp4));
  const { result, failures } = await harness.run();
  expect(failures.map((failure) => failure.class)).toEqual(['no_picture']);
  expect(result.outcome).toBe('downloaded');
});

it('[C4.3] a whole file that is answered as a part of itself is taken at once', async () => {
  harness.content = status206(`bytes 0-${mp4.length - 1}/${mp4.length}`, () => mp4);
  const { result, failures } = await harness.run();
  expect(failures).toEqual([]);
  expect(result).toMatchObject({ outcome: 'downloaded', artifact: { sha256: sha256(mp4) } });
});

const status206 =
  (range: string, body: () => Buffer): Answer =>
  (_request, response) =>
    response.writeHead(206, { 'content-range': range }).end(body());

describe('[C4.2] [C8.6] what cannot change is reported after three tries:', () => {
  it.each<[string, string, string, Answer]>([
    [
      'a part that was not requested',
      'incomplete_file',
      'The service sent only bytes 0 to 99 of 200, although the whole file was requested.',
      status206('bytes 0-99/200', () => mp4.subarray(0, 100)),
    ],
    [
      'a part that does not say which',
      'incomplete_file',
      'The service sent only part of the file, although the whole file was requested.',
      status206('bytes', () => mp4.subarray(0, 100)),
    ],
    [
      'an image',
      'not_video',
      'The content is image/png, not video.',
      (_request, response) => response.end(makePng(8, 8)),
    ],
    [
      'other bytes',
      'not_video',
      'The content is not a known video format.',
      status(200, '\u0000'.repeat(2000)),
    ],
    [
      'an encoded body',
      'not_video',
      'The body has a content encoding that was not requested.',
      status(200, 'x'.repeat(100), { 'content-encoding': 'gzip' }),
    ],
  ])('%s', async (_what, reason, message, answer) => {
    harness.content = answer;
    const { result } = await harness.run();
    expect(result).toMatchObject({ outcome: 'content_unavailable', reason, message, tries: 3 });
  });

  it('an image in a data: URL of the record', async () => {
    harness.record = {
      status: 'completed',
      url: `data:video/mp4;base64,${makePng(8, 8).toString('base64')}`,
    };
    expect((await harness.run()).result).toMatchObject({
      reason: 'not_video',
      message: "The record's data: URL does not contain a video. The content is image/png, not video.",
      tries: 3,
    });
  });
});

describe('[C4.3] a paid file that a decoder can play is kept', () => {
  it.each<[string, () => Buffer, string, RegExp]>([
    [
      'bytes behind its end',
      () => Buffer.concat([mp4, Buffer.alloc(4)]),
      'video/mp4',
      /The file's last bytes \(4\)/,
    ],
    ['Matroska', () => matroska(1), 'video/matroska', /is video\/matroska/],
    ['a transport stream', () => transportStream([[0x1b]]), 'video/mp2t', /is video\/mp2t/],
    ['AVI', () => avi(['vids']), 'video/x-msvideo', /is video\/x-msvideo/],
  ])('with a warning: %s', async (_what, bytes, mediaType, why) => {
    harness.content = (request, response) => fileAnswer(bytes())(request, response);
    const { result, failures } = await harness.run();
    expect(failures).toEqual([]);
    expect(result).toMatchObject({
      outcome: 'downloaded',
      artifact: { mediaType, sha256: sha256(bytes()) },
      warnings: [expect.stringMatching(why)],
    });
    expect(result).toMatchObject({
      warnings: [expect.stringMatching(/, so (?:its end|the end of the file) was not verified\.$/)],
    });
  });

  it('but one that is larger than the check reads is refused at once, as a limit, with its bytes', async () => {
    const tracks = Array.from({ length: 1001 }, (_, index) =>
      trak({
        tkhd: table('tkhd', 0, 0, 0, index),
        stbl: [table('stsd', 0, 1, box('avc1')), list('stts', 0)],
      }),
    );
    const bytes = Buffer.concat([box('ftyp', Buffer.from('isom')), box('moov', box('mvhd'), ...tracks)]);
    harness.content = fileAnswer(bytes);
    const { result } = await harness.run();
    expect(result).toMatchObject({
      outcome: 'content_unavailable',
      reason: 'storage',
      message: 'The file has more tracks than the limit of 1000.',
      tries: 1,
      rejected: { sha256: sha256(bytes) },
    });
  });
});

it('[C2.2.5] differences between requested, reported and real are warnings', async () => {
  harness.content = fileAnswer(mp4);
  harness.record = { status: 'completed', resolution: '480p', seconds: 5, model: 'video-9' };
  const video = {
    ...videoTaskById(TASK_ID, 'default@00000000'),
    durationSeconds: 4,
    resolution: '720p',
    model: 'video-1',
  };
  const { result } = await harness.run({ video });
  expect(result).toMatchObject({
    reported: { resolution: '480p', durationSeconds: 5, model: 'video-9' },
    warnings: [
      'Requested duration 4 s, reported 5 s.',
      'Requested duration 4 s, file 2 s.',
      'Requested resolution 720p, reported 480p.',
      'Requested model video-1, reported video-9.',
      'Requested resolution 720p, file 64x48.',
    ],
  });
});

it.each([undefined, 'a cat on a roof'])(
  'the side-car holds the prompt only when it is given: %j',
  async (sidecarPrompt) => {
    harness.content = fileAnswer(mp4);
    const { result } = await harness.run(sidecarPrompt === undefined ? {} : { sidecarPrompt });
    const sidecar = result.outcome === 'downloaded' ? result.sidecar! : undefined;
    const document = JSON.parse((await buffer(await harness.store.read(sidecar!))).toString()) as Record<
      string,
      unknown
    >;
    expect(sidecar!.mediaType).toBe('application/json');
    expect(document).toMatchObject({
      v: 1,
      task: { taskId: TASK_ID, account: 'default@00000000' },
      artifact: { sha256: sha256(mp4) },
      media: { durationSeconds: 2, codec: 'avc1.42000a' },
      usage: null,
      timings: { tries: 1 },
    });
    expect(document['prompt']).toBe(sidecarPrompt);
  },
);
