import { createFile, MP4BoxBuffer } from 'mp4box';
import { sandboxModels } from '../../../packages/sandbox/src';
import { rawCall } from './raw-call';
import { runSandbox } from './running-sandbox';

/** Movie facts and the byte ranges of all samples, as a parser sees them. */
function parse(bytes: Buffer) {
  const file = createFile();
  const buffer = MP4BoxBuffer.fromArrayBuffer(new Uint8Array(bytes).buffer, 0);
  file.appendBuffer(buffer);
  file.flush();
  const info = file.getInfo();
  const track = info.videoTracks[0];
  const samples = file.getTrackSamplesInfo(track?.id ?? 0);
  return { info, track, samples };
}

test.each([
  ['cine-1', { seconds: 2 }, 2, 256, 144],
  ['cine-1', { seconds: 4, resolution: '720p', aspect_ratio: '9:16' }, 4, 180, 320],
  ['motion-omni', { duration: 3, resolution: '1080p', aspect_ratio: '1:1' }, 3, 96, 96],
  ['cine-1-pro', { seconds: 4, resolution: '4K', aspect_ratio: '21:9' }, 4, 588, 252],
])('%s %j is a whole H.264 file of its duration', async (model, fields, seconds, width, height) => {
  const sandbox = await runSandbox();
  const reply = await sandbox.create({ model, prompt: 'a boat, ünïcode 船', ...fields });
  const { id } = JSON.parse(reply.body.toString()) as { id: string };
  const content = await rawCall(`${sandbox.taskUrl(id)}/content`);
  const file = content.headers.location ? await rawCall(content.headers.location, { key: null }) : content;
  await sandbox.close();
  const { info, track, samples } = parse(file.body);
  expect(track?.codec).toMatch(/^avc1/);
  expect(track?.video).toMatchObject({ width, height });
  expect(info.duration / info.timescale).toBeCloseTo(seconds, 1);
  expect(samples).toHaveLength(seconds * 10);
  for (const sample of samples) {
    expect(sample.offset + sample.size).toBeLessThanOrEqual(file.body.length);
    // Players may seek to every sample that is called a sync sample, so each must hold an IDR slice (type 5).
    expect([sample.is_sync, (file.body[sample.offset + 4] ?? 0) & 0x1f]).toEqual([true, 5]);
  }
});

test('the configuration has all price rules and reference forms, and no polling below 3 s', () => {
  const { models } = sandboxModels;
  const video = models.filter((model) => model.kind === 'video');
  expect(video.length).toBeGreaterThanOrEqual(5);
  expect(new Set(models.map((model) => model.price?.per))).toEqual(
    new Set(['task', 'second', 'specification', undefined]),
  );
  const references = video.flatMap((model) => model.references ?? []);
  expect(new Set(references.map((one) => one.form))).toEqual(new Set(['url', 'data_url', 'base64']));
  expect(new Set(references.map((one) => one.kind))).toEqual(new Set(['image', 'video', 'audio']));
  for (const { polling } of video) expect(polling?.minSeconds ?? 3).toBeGreaterThanOrEqual(3);
});
