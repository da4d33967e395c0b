import { BoxParser, Log, MP4BoxBuffer, MultiBufferStream, type VisualSampleEntry } from 'mp4box';
import { boxesIn, uint16 } from './mp4-boxes';

/** What a sample entry of pictures says. */
interface Picture {
  readonly width: number;
  readonly height: number;
  /** RFC 6381 name, such as `avc1.42e01e`; its first four letters alone when the file does not say more. */
  readonly codec: string;
}

const SAMPLE_ENTRIES = BoxParser.sampleEntry as unknown as Readonly<
  Record<string, new (size: number, headerBytes: number, start: number) => VisualSampleEntry>
>;

const typeOf = (box: Buffer) => box.toString('latin1', 4, 8);

/** Length of a picture's sample entry without the boxes in it. */
const PICTURE_HEADER = 86;

/** Boxes of a sample entry that the name of a codec is made of. */
const CODEC_BOXES: ReadonlySet<string> = new Set(['avcC', 'hvcC', 'av1C', 'vpcC', 'vvcC', 'lvcC']);

/** More than the configuration of any decoder has. */
const MAX_CODEC_BYTES = 64 * 1024;

/** Size and codec of the pictures that a sample entry describes. */
export function pictureOf(sampleEntry: Buffer): Picture {
  return {
    width: uint16(sampleEntry, 32),
    height: uint16(sampleEntry, 34),
    codec: codecOf(sampleEntry) ?? typeOf(sampleEntry),
  };
}

/**
 * The name that the parser makes of the decoder's configuration. It reads a copy that has nothing else in it: a list
 * that claims too much would be read on, over all the bytes that follow.
 */
function codecOf(sampleEntry: Buffer): string | undefined {
  const type = typeOf(sampleEntry);
  if (!Object.hasOwn(SAMPLE_ENTRIES, type)) return undefined;
  try {
    return nameOf(type, configurationOf(sampleEntry));
  } catch (_error) {
    // The library throws errors of any class for bytes that it does not expect.
    return undefined;
  }
}

/** The sample entry with its decoder's configuration alone. */
function configurationOf(sampleEntry: Buffer): Buffer {
  const parts = new Map<string, Buffer>();
  for (const box of boxesIn(sampleEntry, PICTURE_HEADER))
    if (CODEC_BOXES.has(box.type) && !parts.has(box.type) && box.end - box.start <= MAX_CODEC_BYTES)
      parts.set(box.type, sampleEntry.subarray(box.start, box.end));
  return Buffer.concat([sampleEntry.subarray(0, PICTURE_HEADER), ...parts.values()]);
}

function nameOf(type: string, bytes: Buffer): string | undefined {
  const own = new MP4BoxBuffer(bytes.length);
  new Uint8Array(own).set(bytes);
  own.fileStart = 0;
  const stream = new MultiBufferStream(own);
  stream.seek(8);
  return silently(() => {
    const entry = new SAMPLE_ENTRIES[type]!(bytes.length, 8, 0);
    entry.type = type;
    entry.parse(stream);
    const name = entry.getCodec();
    // The parser writes `undefined` into a name for what the file leaves out.
    return /undefined|NaN/.test(name) ? undefined : name;
  });
}

/** Mutes the parser, which logs damaged files to the console; the result already reports them. */
function silently<T>(work: () => T): T {
  const before = { ...Log };
  Log.error = Log.warn = () => undefined;
  try {
    return work();
  } finally {
    Object.assign(Log, before);
  }
}
