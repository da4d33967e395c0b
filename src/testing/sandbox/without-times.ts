const containers = ['moov', 'trak', 'mdia'];
const dated = ['mvhd', 'tkhd', 'mdhd'];

/**
 * Clears the creation and modification times of an MP4, in place. The encoder writes the clock into them, but equal
 * specs must give equal bytes: the strong ETag of a file stays the same when it is encoded again.
 */
export function withoutTimes(bytes: Buffer, start = 0, end = bytes.length): Buffer {
  for (let at = start; at + 8 <= end;) {
    const size = bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (size < 8) break;
    if (containers.includes(type)) withoutTimes(bytes, at + 8, at + size);
    // Version 1 has 64-bit times, version 0 has 32-bit ones.
    if (dated.includes(type)) bytes.fill(0, at + 12, at + (bytes[at + 8] === 1 ? 28 : 20));
    at += size;
  }
  return bytes;
}
