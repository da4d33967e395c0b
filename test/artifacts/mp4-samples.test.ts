import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkMp4 } from '../../src/artifacts/mp4-check';
import { box, makeMp4, topLevel } from './make-media';

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

const firstChunk = () => whole.readUInt32BE(whole.indexOf('stco') + 12);

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
    expect(await claims(end - start + 1)).toEqual({
      ok: false,
      reason: 'truncated',
      message: `Not all of ${end - start + 1} samples fit into the file.`,
    });
    expect(await claims(end - start)).not.toMatchObject({
      message: expect.stringContaining('fit') as string,
    });
  });

  it('that lie across two boxes of media data are counted as lost, the others are not', async () => {
    const result = await check(split(firstChunk() + 100));
    expect(result).toEqual({
      ok: false,
      reason: 'truncated',
      message: '1 of 20 samples are not in the file.',
    });
  });

  it('that begin before their box, or end one byte behind it, are lost', async () => {
    const before = changed('stco', 8, firstChunk() - 9);
    expect(await check(before)).toMatchObject({
      reason: 'truncated',
      message: expect.stringMatching(/^\d+ of 20 /) as string,
    });
    // The last sample ends with its box.
    const sizes = whole.indexOf('stsz') + 16;
    const longer = Buffer.from(whole);
    longer.writeUInt32BE(whole.readUInt32BE(sizes + 19 * 4) + 1, sizes + 19 * 4);
    expect(await check(longer)).toEqual({
      ok: false,
      reason: 'truncated',
      message: '1 of 20 samples are not in the file.',
    });
  });

  it('are no picture when the only track is sound', async () => {
    const bytes = Buffer.from(whole);
    bytes.write('tx3g', bytes.indexOf('avc1', bytes.indexOf('stsd')), 'latin1');
    expect(await check(bytes)).toEqual({
      ok: false,
      reason: 'not_video',
      message: 'The file has no picture track.',
    });
  });

  it('have no rate when the track claims no time', async () => {
    const result = await check(changed('mdhd', 12, 0));
    expect(result).toMatchObject({ ok: true });
    expect(result.ok && result.durationSeconds >= 0).toBe(true);
  });

  it.each<[string, () => Buffer, string, string]>([
    [
      'claim more than any video',
      () => changed('stsz', 8, 1_500_001),
      'not_video',
      'The sample tables are larger than those of any video.',
    ],
    [
      'are in tables of garbage',
      () => Buffer.concat([part('ftyp'), box('moov', Buffer.alloc(300, 7)), part('mdat')]),
      'truncated',
      'The sample tables cannot be read: the file is damaged.',
    ],
  ])('that %s are not looked at', async (_, bytes, reason, message) => {
    expect(await check(bytes())).toEqual({ ok: false, reason, message });
  });

  it('in more tables than fit into memory are not read at all', async () => {
    const limit = 64 * 1024 * 1024;
    const head = Buffer.concat([part('ftyp'), part('mdat')]);
    const moov = Buffer.alloc(8);
    moov.writeUInt32BE(limit + 1, 0);
    moov.write('moov', 4, 'latin1');
    expect(await check(Buffer.concat([head, moov]), head.length + limit + 1)).toEqual({
      ok: false,
      reason: 'not_video',
      message: 'The sample tables are larger than those of any video.',
    });
  });

  it('are found behind more than four gigabytes of other things', async () => {
    const four = 0x1_0000_0000 + 16;
    const open = Buffer.alloc(8);
    open.write('mdat', 4, 'latin1');
    expect(await check(Buffer.concat([whole, open]), whole.length + four)).toMatchObject({ ok: true });
  });
});
