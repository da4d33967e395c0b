import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { checkVideo } from '../../src/stores/artifacts/video-check';
import { proved } from '../support/proof';
import { splicedFrom } from './good-files/spliced';

const FOLDER = join(__dirname, '..', 'fixtures', 'good-media');
/** What is only known by its tracks and by what it says of its own size. */
const WITH_WARNING: ReadonlySet<string> = new Set(['.webm']);
const MUXERS = /^(ffmpeg|gstreamer|mediabunny|mp4-muxer|webm-muxer|mp4box|minimp4|mkvmerge)-/;

const counts = { muxers: new Set<string>(), verified: 0, warned: 0, refused: 0, codecs: new Set<string>() };
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'good-files-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  proved('good-files', {
    'good files verified to the end': counts.verified,
    'good files accepted with a warning': counts.warned,
    muxers: counts.muxers.size,
    codecs: counts.codecs.size,
    'good files refused': counts.refused,
  });
});

async function take(name: string, path: string): Promise<void> {
  const check = await checkVideo(path);
  if (!check.ok) counts.refused += 1;
  const warned = WITH_WARNING.has(extname(name));
  // The whole answer, so that a refusal says why.
  expect({ name, check }).toMatchObject({
    name,
    check: { ok: true, warnings: warned ? [expect.any(String)] : [] },
  });
  if (!check.ok) return;
  if (warned) counts.warned += 1;
  else {
    const { facts } = check;
    expect(facts!.width).toBeGreaterThan(0);
    expect(facts!.codec).toMatch(/^(?!.*undefined)[\w.]{4,40}$/);
    expect(facts!.durationSeconds).toBeGreaterThan(0);
    expect(facts!.durationSeconds).toBeLessThan(1.3);
    counts.verified += 1;
    counts.codecs.add(facts!.codec.slice(0, 4));
  }
}

it('[C4.3] good files of many muxers are video', async () => {
  const names = (await readdir(FOLDER)).filter((name) => MUXERS.test(name));
  for (const name of names) {
    await take(name, join(FOLDER, name));
    counts.muxers.add(MUXERS.exec(name)![1]!);
  }
  expect(names.length).toBeGreaterThanOrEqual(40);
  expect(counts.muxers.size).toBeGreaterThanOrEqual(4);
});

it.each(['ffmpeg-h264-faststart.mp4', 'ffmpeg-h264-aac-moov-last.mp4', 'minimp4-h264-long.mp4'])(
  '[C4.3] %s stays video when its boxes are moved, split or padded',
  async (name) => {
    for (const [index, [how, bytes]] of splicedFrom(await readFile(join(FOLDER, name))).entries()) {
      const path = join(folder, `${index}.mp4`);
      await writeFile(path, bytes);
      await take(`${how}.mp4`, path);
    }
  },
);
