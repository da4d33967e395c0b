import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { checkVideo } from '../../../src/stores/artifacts/video-check';
import { whatIsLeft } from '../../proof/truncation/boxes';
import { WITH_PICTURES, WITHOUT_PICTURES } from './decodable/corpus';
import { type Decoded, decode, encode, hasFfmpeg, INSTALL } from './decodable/ffmpeg';
import { variantsOf } from './decodable/variants';

/** Places spread over a file at which it is cut, besides its last bytes. */
const CUTS = 4;
/** Every file is changed in each STEP-th way, so that all of them together are changed in every way. */
const STEP = 4;
const LIVE = /^live/;
const ISO = /\.(mp4|mov|avif)$/;
const PACKETS: Readonly<Record<string, number>> = { '.ts': 188, '.m2ts': 192 };

const made = { files: 0, missing: 0 };
let folder: string;

if (!hasFfmpeg)
  process.stderr.write(
    `SKIPPED: test/stores/artifacts/decodable-files.test.ts judges by ffprobe: ${INSTALL}.\n`,
  );

/** `describe` where ffmpeg is, else `describe.skip`. */
const withFfmpeg = hasFfmpeg ? describe : describe.skip;

withFfmpeg(`a file that ffmpeg makes, judged by its decoder${hasFfmpeg ? '' : `: ${INSTALL}`}`, () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'decodable-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each(WITH_PICTURES.map(([name, args], index) => [name, args, index] as const))(
    '[C4.3] %s is kept, whatever is around it, and refused when it is cut',
    async (name, args, index) => {
      if (await encode(join(folder, name), args)) await judge(name, index);
      else made.missing += 1;
    },
    60_000,
  );

  it('of most kinds, whatever encoders this build of ffmpeg has', () => {
    expect(made.files).toBeGreaterThan(made.missing);
  });

  it.each(WITHOUT_PICTURES)('[C4.3] %s is no video', async (name, args) => {
    if (!(await encode(join(folder, name), args))) return;
    expect(await checkVideo(join(folder, name))).toMatchObject({ ok: false });
  });
});

async function judge(name: string, index: number): Promise<void> {
  const bytes = await readFile(join(folder, name));
  const whole = await decode(join(folder, name));
  // A build of ffmpeg may write what it cannot read.
  if (whole.frames === 0) {
    made.missing += 1;
    return;
  }
  made.files += 1;
  await kept(name, join(folder, name));
  const path = join(folder, `variant-of-${name}`);
  for (const [how, other] of variantsOf(bytes).filter((_, place) => place % STEP === index % STEP)) {
    await writeFile(path, other);
    if (!isSame(await decode(path), whole)) continue;
    await kept(`${name}, ${how}`, path);
  }
  for (const cut of cutsOf(bytes)) {
    if (isUndecidable(name, bytes, cut)) continue;
    await writeFile(path, bytes.subarray(0, cut));
    if (!isSame(await decode(path), whole)) {
      const check = await checkVideo(path);
      expect({ name, cut, check }).toMatchObject({ name, cut, check: { ok: false } });
    } else if (ISO.test(name) && whatIsLeft(bytes, cut) === 'whole') {
      await kept(`${name} without its last ${bytes.length - cut} bytes`, path);
    }
  }
}

async function kept(what: string, path: string): Promise<void> {
  const check = await checkVideo(path);
  expect({ what, check }).toMatchObject({ what, check: { ok: true } });
}

/** The same pictures, and the same bytes of every track. */
const isSame = (one: Decoded, other: Decoded) =>
  one.frames === other.frames && other.bytes.every((bytes, index) => one.bytes[index] === bytes);

function cutsOf(bytes: Buffer): number[] {
  const spread = Array.from({ length: CUTS }, (_, index) =>
    Math.floor((bytes.length * (index + 1)) / (CUTS + 1)),
  );
  return [...spread, bytes.length - 100, bytes.length - 9, bytes.length - 1].filter((cut) => cut > 0);
}

/** A cut that only the length tells which the service announces: between fragments or packets, or in a recording. */
function isUndecidable(name: string, bytes: Buffer, cut: number): boolean {
  if (ISO.test(name)) return whatIsLeft(bytes, cut) === 'shorter';
  const packet = PACKETS[extname(name)];
  return LIVE.test(name) || (packet !== undefined && cut % packet === 0);
}
