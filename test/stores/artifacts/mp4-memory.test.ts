import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type VideoCheck } from '../../../src/stores/artifacts/video-check';
import { box, makeMp4, topLevel } from './make-media';

let folder: string;
let whole: Buffer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'temporal-media-memory-'));
  whole = await makeMp4(2);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The check of a process that dies when it takes more than 128 MiB. */
async function check(bytes: Buffer): Promise<VideoCheck> {
  const path = join(folder, 'video.mp4');
  await writeFile(path, bytes);
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--max-old-space-size=128',
    join(__dirname, 'check-video.js'),
    path,
  ]);
  return JSON.parse(stdout) as VideoCheck;
}

const numbers = (...values: number[]) => {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => bytes.writeUInt32BE(value, index * 4));
  return bytes;
};

const FOUR_BILLION = 0xffffffff;
/** Four billion samples of one byte each. */
const sizes = () => box('stsz', numbers(0, 1, FOUR_BILLION));

/** The file with more boxes in its index, whose media data stays where it is. */
function withInMoov(...more: Buffer[]): Buffer {
  const moov = topLevel(whole).find(({ type }) => type === 'moov')!;
  const index = box('moov', whole.subarray(moov.start + 8, moov.end), ...more);
  return Buffer.concat([whole.subarray(0, moov.start), index]);
}

/** The file with more boxes in the description of its picture. */
function withInSampleEntry(...more: Buffer[]): Buffer {
  const added = Buffer.concat(more);
  const at = whole.indexOf('avcC') - 4;
  const bytes = Buffer.concat([whole.subarray(0, at), added, whole.subarray(at)]);
  for (const type of ['moov', 'trak', 'mdia', 'minf', 'stbl', 'stsd', 'avc1']) {
    const size = whole.lastIndexOf(type, at) - 4;
    bytes.writeUInt32BE(whole.readUInt32BE(size) + added.length, size);
  }
  return bytes;
}

describe('[C4.3] a table that claims more than there is takes no memory', () => {
  const refused: [string, () => Buffer][] = [
    ['samples beside the tracks', () => withInMoov(sizes())],
    ['samples in data of the user', () => withInMoov(box('udta', sizes()))],
    ['samples in data of the user of a track', () => withInMoov(box('trak', box('udta', sizes())))],
    [
      'samples of a second track',
      () => withInMoov(box('trak', box('mdia', box('minf', box('stbl', sizes()))))),
    ],
    ['a run of samples', () => withInMoov(box('traf', box('trun', numbers(0, FOUR_BILLION))))],
    ['edits', () => withInMoov(box('edts', box('elst', numbers(0, FOUR_BILLION))))],
    [
      'groups of samples',
      () => withInMoov(box('udta', box('sgpd', numbers(0x01000000, 0, 1, FOUR_BILLION)))),
    ],
    ...['stts', 'ctts', 'stsc', 'stco', 'co64', 'stss'].map((type): [string, () => Buffer] => [
      `entries of ${type}`,
      () =>
        withInMoov(box('stbl', box(type, numbers(0, FOUR_BILLION)), Buffer.alloc(1_000_000, box('free')))),
    ]),
  ];
  it.each(refused)('%s', async (_, bytes) => {
    expect(await check(bytes())).toMatchObject({
      ok: false,
      reason: expect.stringMatching(/^(incomplete_file|not_video)$/) as string,
    });
  });

  /** Lists in places that no player needs for the picture: they are not read. */
  const ignored: [string, () => Buffer][] = [
    [
      'items without a length',
      () =>
        withInMoov(box('meta', numbers(0), box('iloc', numbers(0, 0xffff), Buffer.alloc(1_000_000, 255)))),
    ],
    ['samples in the description of the picture', () => withInSampleEntry(sizes(), box('sinf', sizes()))],
    [
      'parameters of a decoder',
      () =>
        withInSampleEntry(
          ...Array.from({ length: 50 }, () => box('hvcC', Buffer.alloc(22), Buffer.alloc(3, 255))),
          box('free', Buffer.alloc(2_000_000)),
        ),
    ],
  ];
  it.each(ignored)('%s', async (_, bytes) => {
    expect(await check(bytes())).toMatchObject({
      ok: true,
      facts: { codec: expect.stringMatching(/^avc1/) as string },
    });
  });
});
