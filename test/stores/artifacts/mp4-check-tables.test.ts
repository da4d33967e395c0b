import { checkMp4Bytes } from '../../../src/stores/artifacts/mp4-verdict';
import { handler, list, table, trak } from './make-boxes';
import { box } from './make-media';
import { memorySource } from './memory-source';

// Files of a few bytes, each box made here, so that a wrong number at any one place shows.

const FTYP = box('ftyp', Buffer.from('isom'));
/** Where the bytes of the first box behind {@link FTYP} begin. */
const DATA = 20;

/** A sample entry of pictures. */
function pictures(type = 'avc1', ...inner: Buffer[]): Buffer {
  const entry = box(type, Buffer.alloc(78), ...inner);
  entry.writeUInt16BE(64, 32);
  entry.writeUInt16BE(48, 34);
  return entry;
}

const SOUND = box('tx3g', Buffer.alloc(78));
const ofSound = { entry: SOUND, hdlr: handler('soun') };
const description = (entry: Buffer) => table('stsd', 0, 1, entry);

const moov = (...inner: Buffer[]) => box('moov', box('mvhd'), ...inner);
const mdat = (bytes: number) => box('mdat', Buffer.alloc(bytes));

/** Samples of 10 bytes and 60 ticks in one chunk. */
interface Simple {
  readonly id?: number;
  readonly samples: number;
  readonly start?: number;
  readonly entry?: Buffer;
  readonly hdlr?: Buffer;
  readonly timescale?: number;
  readonly duration?: number;
}

function simple({
  id = 1,
  samples,
  start = DATA,
  entry = pictures(),
  hdlr = handler('vide'),
  timescale = 600,
  duration = samples * 60,
}: Simple): Buffer {
  return trak({
    tkhd: table('tkhd', 0, 0, 0, id),
    mdhd: table('mdhd', 0, 0, 0, timescale, duration),
    hdlr,
    stbl: [
      description(entry),
      list('stts', 1, samples, 60),
      table('stsz', 0, 10, samples),
      list('stsc', samples > 0 ? 1 : 0, 1, samples, 1),
      list('stco', samples > 0 ? 1 : 0, start),
    ],
  });
}

function check(...parts: Buffer[]) {
  const bytes = Buffer.concat(parts);
  return checkMp4Bytes(memorySource(bytes), bytes.length);
}

const facts = (durationSeconds: number, fps: number) => ({
  ok: true,
  durationSeconds,
  width: 64,
  height: 48,
  fps,
  codec: 'avc1',
});
const incomplete = (message: string) => ({ ok: false, reason: 'incomplete_file', message });
const lost = (outside: number, total: number) =>
  incomplete(`${outside} of ${total} samples are missing from the file.`);
const DAMAGED = incomplete('The sample tables cannot be read. The file is damaged.');

describe('[C4.3] a file of one chunk', () => {
  it('is told with its facts', async () => {
    expect(await check(FTYP, mdat(50), moov(simple({ samples: 5 })))).toEqual(facts(0.5, 10));
  });

  it('must hold its last byte', async () => {
    expect(await check(FTYP, mdat(49), moov(simple({ samples: 5 })))).toEqual(lost(1, 5));
    expect(await check(FTYP, mdat(50), moov(simple({ samples: 5, start: DATA + 1 })))).toEqual(lost(1, 5));
    expect(await check(FTYP, mdat(50), moov(simple({ samples: 5, start: DATA - 1 })))).toEqual(lost(1, 5));
  });

  it('has its rate to three digits', async () => {
    const made = simple({ samples: 3, timescale: 1000, duration: 1001 });
    expect(await check(FTYP, mdat(30), moov(made))).toEqual(facts(1.001, 2.997));
  });

  it.each<[string, Partial<Simple>]>([
    ['a clock without ticks', { timescale: 0 }],
    ['less than half a millisecond', { timescale: 1_000_000, samples: 1, duration: 400 }],
  ])('has no rate with %s', async (_, given) => {
    const made = moov(simple({ samples: 5, ...given }));
    expect(await check(FTYP, mdat(50), made)).toEqual({
      ok: true,
      durationSeconds: 0,
      width: 64,
      height: 48,
      codec: 'avc1',
    });
  });

  it('counts as its last index says', async () => {
    const [first, last] = [moov(simple({ samples: 2 })), moov(simple({ samples: 5 }))];
    expect(await check(FTYP, mdat(50), first, last)).toEqual(facts(0.5, 10));
    expect(await check(FTYP, mdat(50), last, first)).toEqual(facts(0.2, 10));
  });

  it('may not hold as many samples as it has bytes of media', async () => {
    const made = (bytes: number) =>
      trak({
        stbl: [description(pictures()), list('stts', 1, 58, 60), table('stsz', 0, 1, 58)].concat(
          list('stsc', 1, 1, 58, 1),
          list('stco', 1, DATA + bytes),
        ),
      });
    expect(await check(FTYP, mdat(58), moov(made(0)))).toMatchObject({ ok: true });
    expect(await check(FTYP, mdat(58), moov(made(1)))).toEqual(lost(1, 58));
    expect(await check(FTYP, mdat(57), moov(made(0)))).toEqual(
      incomplete('The tables list 58 samples, more than the file has room for.'),
    );
  });
});

describe('[C4.3] a file of many chunks', () => {
  /** Five samples of other lengths: two, two and one, each chunk in a box that just holds it. */
  const LENGTHS = [10, 20, 30, 40, 50];
  const media = Buffer.concat([mdat(30), box('free', Buffer.alloc(4)), mdat(70), mdat(50)]);
  const STARTS = [DATA, DATA + 30 + 12 + 8, DATA + 30 + 12 + 8 + 70 + 8];
  const RUNS = [1, 2, 1, 3, 1, 1];
  const made = (starts: readonly number[], runs: readonly number[], samples = 5) =>
    trak({
      mdhd: table('mdhd', 0, 0, 0, 10, samples),
      stbl: [
        description(pictures()),
        list('stts', 1, samples, 1),
        table('stsz', 0, 0, samples, ...LENGTHS),
        list('stsc', runs.length / 3, ...runs),
        list('stco', starts.length, ...starts),
      ],
    });
  const checked = (starts: readonly number[], runs = RUNS, samples = 5) =>
    check(FTYP, media, moov(made(starts, runs, samples)));

  it('is whole when each chunk is where its table says', async () => {
    expect(await checked(STARTS)).toEqual(facts(0.5, 10));
  });

  it.each([
    [0, 1],
    [1, 1],
    [2, 1],
  ])('has lost a sample when chunk %i begins a byte later or earlier', async (chunk, outside) => {
    const moved = (by: number) => STARTS.map((start, index) => (index === chunk ? start + by : start));
    expect(await checked(moved(1))).toEqual(lost(outside, 5));
    expect(await checked(moved(-1))).toEqual(lost(outside, 5));
  });

  it('may say that its last chunk has more samples than there are', async () => {
    expect(await checked(STARTS, [1, 2, 1, 3, 9, 1])).toEqual(facts(0.5, 10));
    // The samples end before the last chunk.
    expect(await checked([...STARTS, 0], RUNS)).toEqual(facts(0.5, 10));
  });

  it.each<[string, readonly number[]]>([
    ['too few samples', [1, 2, 1, 3, 0, 1]],
    ['a first chunk that is none', [0, 2, 1, 3, 1, 1]],
    ['a run behind the last chunk', [1, 2, 1, 5, 1, 1]],
    ['runs that go back', [2, 5, 1, 1, 5, 1]],
  ])('does not place every sample with %s', async (_, runs) => {
    expect(await checked(STARTS, [...runs])).toEqual(
      incomplete("A track's tables do not locate all of its samples."),
    );
  });
});

describe('[C4.3] a file of fragments', () => {
  const mvex = box('mvex', table('trex', 0, 1, 1, 60, 10, 0), table('trex', 0, 2, 1, 60, 10, 0));
  const head = moov(simple({ samples: 0, duration: 0 }), simple({ id: 2, samples: 0, ...ofSound }), mvex);
  const moof = (track: number, samples: number, offset: number, header: Buffer[] = []) =>
    box(
      'moof',
      box('mfhd'),
      box(
        'traf',
        ...(header.length > 0 ? header : [table('tfhd', 0, track)]),
        table('trun', 1, samples, offset),
      ),
    );
  /** Bytes from the beginning of such a box to the data of the box behind it. */
  const BEHIND = moof(1, 1, 0).length + 8;

  it('shows the frames of all its fragments', async () => {
    expect(await check(FTYP, head, moof(1, 2, BEHIND), mdat(20), moof(1, 3, BEHIND), mdat(30))).toEqual(
      facts(0.5, 10),
    );
  });

  it('shows only those of its picture', async () => {
    expect(await check(FTYP, head, moof(1, 2, BEHIND), mdat(20), moof(2, 3, BEHIND), mdat(30))).toEqual(
      facts(0.2, 10),
    );
  });

  it('has lost samples of any track that are not there', async () => {
    expect(await check(FTYP, head, moof(1, 2, BEHIND), mdat(20), moof(2, 3, BEHIND + 1), mdat(30))).toEqual(
      lost(1, 5),
    );
    expect(await check(FTYP, head, moof(1, 2, BEHIND - 1), mdat(20), moof(2, 3, BEHIND), mdat(30))).toEqual(
      lost(1, 5),
    );
  });

  it('adds its frames to those that its index has', async () => {
    const index = moov(simple({ samples: 2 }), mvex);
    expect(await check(FTYP, mdat(20), index, moof(1, 3, BEHIND), mdat(30))).toEqual(facts(0.5, 10));
  });

  it('lasts as long as its track says when its frames say nothing', async () => {
    const silent = moov(simple({ samples: 0, duration: 300 }));
    const frames = moof(1, 5, BEHIND + 4, [table('tfhd', 0x10, 1, 10)]);
    expect(await check(FTYP, silent, frames, mdat(50))).toEqual(facts(0.5, 10));
  });

  it('is damaged when a fragment is of no track', async () => {
    expect(await check(FTYP, head, moof(3, 1, BEHIND), mdat(20))).toEqual(DAMAGED);
  });

  it('has no frames when no fragment has any', async () => {
    expect(await check(FTYP, head, moof(2, 2, BEHIND), mdat(20))).toEqual(
      incomplete('The picture track has no frames.'),
    );
  });
});

describe('[C4.3] the codec of a file', () => {
  const hex = (type: string, digits: string) => box(type, Buffer.from(digits, 'hex'));
  const AVC = hex('avcC', '0142001effe00000');
  const codecOf = async (entry: Buffer) => {
    const result = await check(FTYP, mdat(50), moov(simple({ samples: 5, entry })));
    return result.ok ? result.codec : result.message;
  };

  it.each<[string, string, Buffer]>([
    ['avc1.42001e', 'avc1', AVC],
    ['hvc1.1.6.L93.b0', 'hvc1', hex('hvcC', '010160000000b000000000005df000fcfdf8f800000f00')],
    ['hev1.A2.6.H150', 'hev1', hex('hvcC', '0162600000000000000000009600')],
    ['av01.0.04M.08', 'av01', hex('av1C', '81040c00')],
    ['av01.2.13H.12', 'av01', hex('av1C', '814dec00')],
    ['vp09.00.10.08', 'vp09', hex('vpcC', '01000000000a820202020000')],
  ])('is %s by the configuration in %s', async (codec, type, configuration) => {
    expect(await codecOf(pictures(type, configuration))).toBe(codec);
  });

  it('is that of the first configuration, whatever else the entry holds', async () => {
    const other = hex('avcC', '01640028ffe00000');
    expect(await codecOf(pictures('avc1', AVC, other))).toBe('avc1.42001e');
    expect(await codecOf(pictures('avc1', hex('sinf', '00'), AVC, hex('clap', ''), hex('pasp', '')))).toBe(
      'avc1.42001e',
    );
  });

  it('is four letters where the configuration is cut', async () => {
    expect(await codecOf(pictures('avc1', hex('avcC', '01')))).toBe('avc1');
  });
});

describe('[C4.3] tables of a file', () => {
  const track = simple({ samples: 5 });
  const behind = (...inner: Buffer[]) => check(FTYP, mdat(50), moov(track, ...inner));

  it('that do not fit into their box are damaged', async () => {
    expect(await behind(list('stss', 1, 1))).toMatchObject({ ok: true });
    expect(await behind(box('minf', list('stss', 2, 1)))).toEqual(DAMAGED);
    expect(await behind(box('edts', list('elst', 1, 1, 1, 1)))).toMatchObject({ ok: true });
    expect(await behind(box('edts', list('elst', 1, 1, 1)))).toEqual(DAMAGED);
  });

  it('of a fragment that do not fit are damaged', async () => {
    const fragment = (frames: number) => box('moof', list('stss', frames, 1));
    expect(await check(FTYP, mdat(50), moov(track), fragment(1))).toEqual(facts(0.5, 10));
    expect(await check(FTYP, mdat(50), moov(track), fragment(2))).toEqual(DAMAGED);
  });

  it('may stand beside anything in data of the user, but must be true there', async () => {
    expect(await behind(box('udta', Buffer.alloc(11, 255)))).toMatchObject({ ok: true });
    expect(await behind(box('udta', list('stss', 1, 1)))).toMatchObject({ ok: true });
    expect(await behind(box('udta', list('stss', 2, 1)))).toEqual(DAMAGED);
  });

  it('of a thousand tracks are read, and of no more', async () => {
    const sound = (id: number) => simple({ id, samples: 0, ...ofSound });
    const more = Array.from({ length: 999 }, (_, index) => sound(index + 2));
    expect(await behind(...more)).toMatchObject({ ok: true });
    expect(await behind(...more, sound(1001))).toEqual({
      ok: false,
      reason: 'too_large',
      message: 'The file has more tracks than the limit of 1000.',
    });
  });

  it('of all fragments are read up to a limit, which is no fault of the file', async () => {
    const MEBIBYTE = 1024 * 1024;
    const whole = Buffer.concat([FTYP, mdat(50), moov(track)]);
    const huge = (type: string) => {
      const header = Buffer.alloc(16);
      header.writeUInt32BE(33 * MEBIBYTE, 0);
      header.write(type, 4, 'latin1');
      header.writeUInt32BE(33 * MEBIBYTE - 8, 8);
      header.write('free', 12, 'latin1');
      return header;
    };
    /** Two boxes of 33 MiB behind the file, of which only the headers are there, and that of a box in each. */
    const withHuge = (type: string) => {
      const parts: [number, Buffer][] = [
        [0, whole],
        [whole.length, huge(type)],
        [whole.length + 33 * MEBIBYTE, huge(type)],
      ];
      const read = (into: Buffer, offset: number, length: number, position: number) => {
        const there = parts.find(([start, bytes]) => position >= start && position < start + bytes.length);
        const from = position - (there?.[0] ?? 0);
        const bytesRead = there === undefined ? length : there[1].copy(into, offset, from, from + length);
        return Promise.resolve({ bytesRead });
      };
      return checkMp4Bytes({ read }, whole.length + 66 * MEBIBYTE);
    };
    expect(await withHuge('moof')).toEqual({
      ...facts(0.5, 10),
      warning:
        "The file's index is longer than the 67108864 bytes that this check reads, so the end of the file was not verified.",
    });
    expect(await withHuge('free')).toEqual(facts(0.5, 10));
  });

  it('are not judged when the disk fails', async () => {
    const bytes = Buffer.concat([FTYP, mdat(50), moov(track)]);
    const failing = {
      read: () => Promise.reject(new Error('EIO')),
    };
    await expect(checkMp4Bytes(failing, bytes.length)).rejects.toThrow('EIO');
  });
});
