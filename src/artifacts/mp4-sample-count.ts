/** Boxes that only hold boxes, on the way to the sample tables. */
const CONTAINERS: ReadonlySet<string> = new Set(['trak', 'mdia', 'minf', 'stbl', 'traf']);

/** Where the number of samples stands, from the end of the box header. */
const COUNT_AT: Readonly<Record<string, number>> = { stsz: 8, stz2: 8, trun: 4 };

/**
 * Samples that the tables in a `moov` or `moof` box claim, before any parser builds lists of them:
 * eight bytes can claim four billion.
 * @param box the whole box, header included
 */
export function claimedSamples(box: Buffer, headerBytes: number): number {
  return countIn(box, headerBytes, box.length, 0);
}

function countIn(buffer: Buffer, from: number, to: number, depth: number): number {
  let total = 0;
  let position = from;
  while (position + 8 <= to) {
    const short = buffer.readUInt32BE(position);
    const long = short === 1 && position + 16 <= to;
    const size = long ? Number(buffer.readBigUInt64BE(position + 8)) : short === 0 ? to - position : short;
    if (size < (long ? 16 : 8)) return total;
    const end = Math.min(position + size, to);
    const body = position + (long ? 16 : 8);
    const type = buffer.toString('latin1', position + 4, position + 8);
    const at = COUNT_AT[type];
    if (at !== undefined && body + at + 4 <= end) total += buffer.readUInt32BE(body + at);
    if (CONTAINERS.has(type) && depth < 8) total += countIn(buffer, body, end, depth + 1);
    position = end;
  }
  return total;
}
