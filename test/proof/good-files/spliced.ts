import { topLevel } from '../../stores/artifacts/make-media';

/** A file with its boxes in another order, split or padded, and its chunk offsets moved along. */
interface Piece {
  readonly bytes: Buffer;
  /** Where these bytes stood before; absent for bytes that are new. */
  readonly from?: number;
}

const header = (size: number, type: string) => {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32BE(size, 0);
  bytes.write(type, 4, 'latin1');
  return bytes;
};

export const box = (type: string, body: Uint8Array): Buffer =>
  Buffer.concat([header(8 + body.length, type), body]);

/** The same box with a 64-bit size. */
const long = (type: string, size: number) => {
  const bytes = Buffer.alloc(16);
  header(1, type).copy(bytes);
  bytes.writeBigUInt64BE(BigInt(size + 16), 8);
  return bytes;
};

/** Replaces a box at any depth by others; sizes of the boxes around it are made anew. */
function replaced(bytes: Buffer, path: readonly string[], by: (body: Buffer) => Buffer): Buffer {
  const [type, ...deeper] = path;
  return Buffer.concat(
    topLevel(bytes).map((found) => {
      const body = bytes.subarray(found.start + 8, found.end);
      if (found.type !== type) return bytes.subarray(found.start, found.end);
      return deeper.length === 0 ? by(body) : box(type, replaced(body, deeper, by));
    }),
  );
}

const CHUNKS = ['trak', 'mdia', 'minf', 'stbl', 'stco'];

/** Chunk offsets of 64 bits instead of 32. */
function wide(moov: Buffer): Buffer {
  return replaced(moov, CHUNKS, (body) => {
    const count = body.readUInt32BE(4);
    const made = Buffer.alloc(8 + count * 8);
    body.copy(made, 0, 0, 8);
    for (let index = 0; index < count; index++)
      made.writeBigUInt64BE(BigInt(body.readUInt32BE(8 + index * 4)), 8 + index * 8);
    return box('co64', made);
  });
}

/** Puts pieces one after the other, and tells the chunk offsets where their bytes are now. */
function assembled(moov: Buffer, order: (moovBytes: Buffer) => readonly Piece[]): Buffer {
  const moovLength = moov.length + 8;
  const places: { from: number; to: number; length: number }[] = [];
  let position = 0;
  for (const { bytes, from } of order(Buffer.alloc(moovLength))) {
    if (from !== undefined) places.push({ from, to: position, length: bytes.length });
    position += bytes.length;
  }
  const moved = (offset: number) => {
    const place = places.find(({ from, length }) => offset >= from && offset < from + length);
    if (place === undefined) throw new Error('A chunk lies in no piece.');
    return offset - place.from + place.to;
  };
  const narrow = replaced(moov, CHUNKS, (body) => {
    const made = Buffer.from(body);
    for (let index = 0; index < body.readUInt32BE(4); index++)
      made.writeUInt32BE(moved(body.readUInt32BE(8 + index * 4)), 8 + index * 4);
    return box('stco', made);
  });
  const both = replaced(narrow, [...CHUNKS.slice(0, -1), 'co64'], (body) => {
    const made = Buffer.from(body);
    for (let index = 0; index < body.readUInt32BE(4); index++)
      made.writeBigUInt64BE(BigInt(moved(Number(body.readBigUInt64BE(8 + index * 8)))), 8 + index * 8);
    return box('co64', made);
  });
  return Buffer.concat(order(box('moov', both)).map(({ bytes }) => bytes));
}

/** Files that no encoder here makes, but that are as good as the one they are made from (`ftyp`, `moov`, one `mdat`). */
export function splicedFrom(whole: Buffer): readonly (readonly [name: string, bytes: Buffer])[] {
  const part = (type: string) => {
    const found = topLevel(whole).find((one) => one.type === type);
    if (found === undefined) throw new Error(`The file has no ${type}.`);
    return { bytes: whole.subarray(found.start, found.end), start: found.start };
  };
  const ftyp: Piece = { bytes: part('ftyp').bytes };
  const moov = part('moov').bytes.subarray(8);
  const mdat = part('mdat');
  const data: Piece = { bytes: mdat.bytes, from: mdat.start };
  const inner: Piece = { bytes: mdat.bytes.subarray(8), from: mdat.start + 8 };
  const free: Piece = { bytes: box('free', Buffer.alloc(33)) };
  const uuid: Piece = { bytes: box('uuid', Buffer.alloc(40, 7)) };
  const meta: Piece = { bytes: box('meta', Buffer.concat([Buffer.alloc(4), box('hdlr', Buffer.alloc(25))])) };
  const wideMoov = wide(moov);
  const open: Piece = { bytes: header(0, 'mdat') };
  const skip: Piece = { bytes: box('skip', Buffer.alloc(5)) };
  return [
    ['moov first', assembled(moov, (m) => [ftyp, { bytes: m }, data])],
    ['moov last', assembled(moov, (m) => [ftyp, data, { bytes: m }])],
    ['co64, moov first', assembled(wideMoov, (m) => [ftyp, { bytes: m }, data])],
    ['co64, moov last', assembled(wideMoov, (m) => [ftyp, data, { bytes: m }])],
    [
      'media data with a 64-bit size',
      assembled(moov, (m) => [ftyp, { bytes: m }, { bytes: long('mdat', inner.bytes.length) }, inner]),
    ],
    ['media data to the end of the file', assembled(moov, (m) => [ftyp, { bytes: m }, open, inner])],
    ['free boxes between all', assembled(moov, (m) => [ftyp, free, { bytes: m }, free, data, free])],
    ['a uuid and a meta box', assembled(moov, (m) => [ftyp, uuid, { bytes: m }, meta, data])],
    [
      'three mdat boxes, two without samples',
      assembled(moov, (m) => [
        ftyp,
        { bytes: box('mdat', Buffer.alloc(0)) },
        data,
        { bytes: box('mdat', Buffer.alloc(9)) },
        { bytes: m },
      ]),
    ],
    [
      'an empty wide box before the media data',
      assembled(moov, (m) => [ftyp, { bytes: m }, { bytes: box('wide', Buffer.alloc(0)) }, data]),
    ],
    [
      'a free box of 64 bits and a skip box',
      assembled(moov, (m) => [ftyp, { bytes: long('free', 0) }, skip, { bytes: m }, data]),
    ],
  ];
}
