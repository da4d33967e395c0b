import { BOX_TYPE } from './mp4-boxes';

/** Boxes that only hold boxes, down to the sample tables. */
const CONTAINERS: ReadonlySet<string> = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl', 'moof', 'traf']);
const MAX_DEPTH = 8;

/**
 * Whether the boxes inside a `moov` or `moof` box fill it: a parser that meets a wrong size leaves out what follows, a
 * sound track for example, and shows the rest as if it were all. Fewer than 8 bytes at an end are padding.
 * @param box the whole box, header included
 */
export function nestsWell(box: Buffer, headerBytes: number): boolean {
  return fills(box, headerBytes, box.length, 1);
}

function fills(buffer: Buffer, from: number, to: number, depth: number): boolean {
  let position = from;
  while (position + 8 <= to) {
    const short = buffer.readUInt32BE(position);
    const long = short === 1;
    if (long && position + 16 > to) return false;
    const size = long ? Number(buffer.readBigUInt64BE(position + 8)) : short;
    const headerBytes = long ? 16 : 8;
    if (size < headerBytes || position + size > to) return false;
    const type = buffer.toString('latin1', position + 4, position + 8);
    if (!BOX_TYPE.test(type)) return false;
    const inner = CONTAINERS.has(type) && depth < MAX_DEPTH;
    if (inner && !fills(buffer, position + headerBytes, position + size, depth + 1)) return false;
    position += size;
  }
  return true;
}
