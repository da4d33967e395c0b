import { box } from './make-media';

/** Numbers of four bytes; a bigint takes eight, a buffer stands as it is. */
export type Part = number | bigint | Buffer;

export function bytesOfParts(...parts: Part[]): Buffer {
  return Buffer.concat(
    parts.map((part) => {
      if (Buffer.isBuffer(part)) return part;
      const written = Buffer.alloc(typeof part === 'bigint' ? 8 : 4);
      if (typeof part === 'bigint') written.writeBigUInt64BE(part);
      else written.writeUInt32BE(part);
      return written;
    }),
  );
}

export const table = (type: string, ...parts: Part[]) => box(type, bytesOfParts(...parts));

/** A table whose entries are numbers of four bytes. */
export const list = (type: string, entryCount: number, ...entries: number[]) =>
  table(type, 0, entryCount, ...entries);

/** What a track is of: `vide`, `soun`, `pict`. */
export const handler = (type: string) => table('hdlr', 0, 0, Buffer.from(type));

interface MadeTrack {
  /** @default a header with the number 42 */
  readonly tkhd?: Buffer;
  /** @default a header with 600 ticks a second and a duration of 1,200 */
  readonly mdhd?: Buffer;
  /** @default that of pictures */
  readonly hdlr?: Buffer;
  /** Boxes of `stbl`. */
  readonly stbl: readonly Buffer[];
}

export function trak({
  tkhd = table('tkhd', 0, 0, 0, 42),
  mdhd = table('mdhd', 0, 0, 0, 600, 1200),
  hdlr = handler('vide'),
  stbl,
}: MadeTrack): Buffer {
  return box('trak', tkhd, box('mdia', hdlr, mdhd, box('minf', box('vmhd'), box('stbl', ...stbl))));
}
