import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkMp4, checkMp4Bytes } from '../../../src/stores/artifacts/mp4-verdict';
import { splicedFrom } from '../../proof/good-files/spliced';
import { box, makeMp4, topLevel } from './make-media';
import { memorySource } from './memory-source';

let directory: string;
let whole: Buffer;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'temporal-media-samples-'));
  whole = await makeMp4();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** @param bytes more of them than given are holes */
async function check(content: Buffer, bytes = content.length) {
  const path = join(directory, 'video');
  await writeFile(path, content);
  await truncate(path, bytes);
  return checkMp4(path);
}

const part = (type: string) => {
  const { start, end } = topLevel(whole).find((candidate) => candidate.type === type)!;
  return whole.subarray(start, end);
};

/** The whole file with one number changed, `offset` bytes behind the name of a box. */
function changed(type: string, offset: number, value: number): Buffer {
  const bytes = Buffer.from(whole);
  bytes.writeUInt32BE(value, bytes.indexOf(type) + 4 + offset);
  return bytes;
}

/** The whole file with its media data split into two boxes at a sample. */
function split(at: number): Buffer {
  const { start, end } = topLevel(whole).find(({ type }) => type === 'mdat')!;
  const bytes = Buffer.from(whole);
  // The first box ends before the sample; eight bytes of the sample before it become the header of the second.
  bytes.writeUInt32BE(at - start, start);
  bytes.writeUInt32BE(end - at, at);
  bytes.write('mdat', at + 4, 'latin1');
  return bytes;
}

/** Padding behind it left out. */
const beforeMoov = () => whole.subarray(0, topLevel(whole).find(({ type }) => type === 'moov')!.start);

const firstChunk = () => whole.readUInt32BE(whole.indexOf('stco') + 12);

/** The samples a second time, in a box of this type behind the file. */
function elsewhere(type: string): Buffer {
  const { start, end } = topLevel(whole).find((one) => one.type === 'mdat')!;
  const bytes = Buffer.concat([whole, box(type, whole.subarray(start + 8, end))]);
  bytes.writeUInt32BE(whole.length + 8, bytes.indexOf('stco') + 12);
  return bytes;
}

describe('[C4.3] the samples of a file', () => {
  it('are told as the picture has them', async () => {
    expect(await check(whole)).toEqual({
      ok: true,
      durationSeconds: 2,
      width: 64,
      height: 48,
      fps: 10,
      codec: 'avc1.42000a',
    });
  });

  it('that are more than the media data has bytes are never listed', async () => {
    const { start, end } = topLevel(whole).find(({ type }) => type === 'mdat')!;
    const claims = (samples: number) => {
      const bytes = changed('stsz', 8, samples);
      bytes.writeUInt32BE(1, bytes.indexOf('stsz') + 8);
      return check(bytes);
    };
    expect(await claims(whole.length)).toEqual({
      ok: false,
      reason: 'incomplete_file',
      message: `The tables list ${whole.length} samples, more than the file has room for.`,
    });
    expect(await claims(end - start - 8)).not.toMatchObject({
      message: expect.stringContaining('fit') as string,
    });
  });

  it('that lie across two boxes of media data are counted as lost, the others are not', async () => {
    const result = await check(split(firstChunk() + 100));
    expect(result).toEqual({
      ok: false,
      reason: 'incomplete_file',
      message: '1 of 20 samples are missing from the file.',
    });
  });

  it('that begin before their box, or end one byte behind it, are lost', async () => {
    const before = changed('stco', 8, firstChunk() - 9);
    expect(await check(before)).toMatchObject({
      reason: 'incomplete_file',
      message: expect.stringMatching(/^\d+ of 20 /) as string,
    });
    // The last sample ends with its box.
    const sizes = whole.indexOf('stsz') + 16;
    const longer = Buffer.from(whole);
    longer.writeUInt32BE(whole.readUInt32BE(sizes + 19 * 4) + 1, sizes + 19 * 4);
    expect(await check(longer)).toEqual({
      ok: false,
      reason: 'incomplete_file',
      message: '1 of 20 samples are missing from the file.',
    });
  });

  it('are no picture when the only track is sound', async () => {
    const bytes = Buffer.from(whole);
    bytes.write('soun', bytes.indexOf('vide', bytes.indexOf('hdlr')), 'latin1');
    expect(await check(bytes)).toEqual({
      ok: false,
      reason: 'not_video',
      message: 'The file has no picture track.',
    });
  });

  it('have no rate when the track claims no time', async () => {
    const result = await check(changed('mdhd', 12, 0));
    expect(result).toEqual({ ok: true, durationSeconds: 0, width: 64, height: 48, codec: 'avc1.42000a' });
  });

  it.each<[string, () => Buffer, string, string]>([
    [
      'claim more than the file has bytes',
      () => changed('stsz', 8, 1_500_001),
      'incomplete_file',
      'The tables list 1500001 samples, more than the file has room for.',
    ],
    [
      'are in tables of garbage',
      () => Buffer.concat([part('ftyp'), box('moov', Buffer.alloc(300, 7)), part('mdat')]),
      'incomplete_file',
      'The sample tables cannot be read. The file is damaged.',
    ],
  ])('that %s are not looked at', async (_, bytes, reason, message) => {
    expect(await check(bytes())).toEqual({ ok: false, reason, message });
  });

  it('in more tables than fit into memory are not read at all', async () => {
    const limit = 64 * 1024 * 1024;
    const head = Buffer.concat([part('ftyp'), part('mdat')]);
    const moov = Buffer.alloc(8);
    moov.writeUInt32BE(limit + 9, 0);
    moov.write('moov', 4, 'latin1');
    expect(await check(Buffer.concat([head, moov]), head.length + limit + 9)).toEqual({
      ok: false,
      reason: 'too_large',
      message: 'The moov box is 67108865 bytes long, but this check reads at most 67108864.',
    });
  });

  it('have the size of the picture, not that of the place where it is shown', async () => {
    // The last two numbers of the header of a track, in 1/65536 of a pixel.
    const bytes = changed('tkhd', 76, 32 << 16);
    bytes.writeUInt32BE(24 << 16, bytes.indexOf('tkhd') + 4 + 80);
    expect(await check(bytes)).toMatchObject({ ok: true, width: 64, height: 48 });
  });

  it('are named by four letters where the file says no more of their codec', async () => {
    for (const name of ['avc1', 'hvc1', 'mp4v']) {
      const bytes = Buffer.from(whole);
      bytes.write('skip', bytes.indexOf('avcC'), 'latin1');
      bytes.write(name, bytes.indexOf('avc1', bytes.indexOf('stsd')), 'latin1');
      expect([name, await check(bytes)]).toMatchObject([name, { ok: true, codec: name }]);
    }
  });

  it('that take no time last as long as their track says', async () => {
    const bytes = Buffer.from(whole);
    const table = bytes.indexOf('stts') + 8;
    for (let entry = 0; entry < bytes.readUInt32BE(table); entry++)
      bytes.writeUInt32BE(0, table + 8 + entry * 8);
    expect(await check(bytes)).toMatchObject({ ok: true, durationSeconds: 2, fps: 10 });
  });

  it.each(['free', 'skip', 'uuid', 'abcd'])(
    'that lie in a box %s may be shown all the same',
    async (type) => {
      expect(await check(elsewhere(type))).toMatchObject({
        ok: true,
        warning: 'Some samples are outside the media data boxes, so the end of the file was not verified.',
      });
    },
  );

  it('that lie in another kind of media data are verified', async () => {
    const result = await check(elsewhere('imda'));
    expect(result).toMatchObject({ ok: true });
    expect(result).not.toHaveProperty('warning');
  });

  it.each(['ftyp', 'moof', 'sidx', 'meta'])('that lie in a box %s are lost', async (type) => {
    const result = await check(elsewhere(type));
    expect(result).toMatchObject({ ok: false, reason: 'incomplete_file' });
  });

  it('that are more than the media data are only lost where the file ends', async () => {
    // The size of the box is wrong; players read on.
    const [[, front]] = splicedFrom(whole) as [[string, Buffer]];
    const { start, end } = topLevel(front).find(({ type }) => type === 'mdat')!;
    const wrong = Buffer.from(front);
    wrong.writeUInt32BE(Math.floor((end - start) / 2), start);
    expect(await check(wrong)).toMatchObject({
      ok: true,
      warning: expect.stringContaining('not verified') as string,
    });
    expect(await check(wrong.subarray(0, end - 1))).toMatchObject({
      reason: 'incomplete_file',
      message: '1 of 20 samples are missing from the file.',
    });
  });

  it('of which there are none are no picture', async () => {
    const bytes = changed('stsz', 8, 0);
    for (const table of ['stsc', 'stco']) bytes.writeUInt32BE(0, bytes.indexOf(table) + 8);
    expect(await check(bytes)).toEqual({
      ok: false,
      reason: 'incomplete_file',
      message: 'The picture track has no frames.',
    });
  });

  it('of any one track that are nowhere make the file damaged', async () => {
    const lost = {
      ok: false,
      reason: 'incomplete_file',
      message: "A track's tables do not locate all of its samples.",
    };
    expect(await check(changed('stsz', 8, 0))).toEqual(lost);
    // A second track, the same with another number, and no sample in its chunks.
    const moov = part('moov');
    const at = moov.indexOf('trak') - 4;
    const track = Buffer.from(moov.subarray(at, at + moov.readUInt32BE(at)));
    track.writeUInt32BE(2, track.indexOf('tkhd') + 4 + 12);
    track.writeUInt32BE(0, track.indexOf('stsz') + 4 + 8);
    const both = box('moov', moov.subarray(8), track);
    const head = beforeMoov();
    expect(await check(Buffer.concat([head, both]))).toEqual(lost);
  });

  it('beside anything that is no box are not looked for', async () => {
    const bytes = Buffer.concat([beforeMoov(), box('moov', part('moov').subarray(8), Buffer.alloc(8))]);
    expect(await check(bytes)).toMatchObject({
      reason: 'incomplete_file',
      message: expect.stringContaining('damaged') as string,
    });
  });

  it('behind a box that claims more than its parent holds are not looked for', async () => {
    const bytes = Buffer.from(whole);
    const name = bytes.indexOf('udta') >= 0 ? 'udta' : 'mvhd';
    const at = bytes.indexOf(name) - 4;
    bytes.writeUInt32BE(bytes.length, at);
    expect(await check(bytes)).toEqual({
      ok: false,
      reason: 'incomplete_file',
      message: 'The sample tables cannot be read. The file is damaged.',
    });
  });

  it('may fill all the memory that they may take, and be as many as they may be', async () => {
    const limit = 64 * 1024 * 1024;
    const moov = part('moov');
    const head = beforeMoov();
    const padded = (bytes: number) => {
      const free = Buffer.alloc(8);
      free.writeUInt32BE(bytes - moov.length, 0);
      free.write('free', 4, 'latin1');
      const longer = Buffer.concat([moov, free]);
      longer.writeUInt32BE(bytes, 0);
      return check(Buffer.concat([head, longer]), head.length + bytes);
    };
    expect(await padded(limit + 8)).toMatchObject({ ok: true });
    expect(await padded(limit + 9)).toMatchObject({ reason: 'too_large' });

    const open = Buffer.concat([part('ftyp'), moov, Buffer.from('\0\0\0\0mdat', 'latin1')]);
    open.writeUInt32BE(1, open.indexOf('stsz') + 8);
    open.writeUInt32BE(1_500_000, open.indexOf('stsz') + 12);
    expect(await check(open, open.length + 1_500_000)).toMatchObject({ reason: 'incomplete_file' });
  });

  it('are read in as many parts as the disk gives, and are damaged where it ends too early', async () => {
    expect(await checkMp4Bytes(memorySource(whole, { most: 100 }), whole.length)).toMatchObject({ ok: true });
    const bytes = Buffer.concat([beforeMoov(), part('moov')]);
    const early = memorySource(bytes.subarray(0, -20), { most: 1000 });
    expect(await checkMp4Bytes(early, bytes.length)).toEqual({
      ok: false,
      reason: 'incomplete_file',
      message: 'The sample tables cannot be read. The file is damaged.',
    });
  });

  it('that are damaged leave the console alone', async () => {
    const said = jest.spyOn(console, 'error').mockImplementation();
    await check(changed('stco', 4, 0x7fffffff));
    await check(changed('stts', 4, 0x7fffffff));
    expect(said).not.toHaveBeenCalled();
    said.mockRestore();
  });

  it('are found behind more than four gigabytes of other things', async () => {
    const four = 0x1_0000_0000 + 16;
    const open = Buffer.alloc(8);
    open.write('mdat', 4, 'latin1');
    expect(await check(Buffer.concat([whole, open]), whole.length + four)).toMatchObject({ ok: true });
  });
});
