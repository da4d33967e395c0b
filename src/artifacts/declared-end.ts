import { type FileHandle } from 'node:fs/promises';
import { BOX_TYPE } from './mp4-boxes';

/** More than any QuickTime file has at its top; what lies behind them is not looked at. */
const MAX_BOXES = 1000;

/**
 * Whether a QuickTime file says itself that it is longer, or came to its end without its tables. Its boxes are those
 * of MP4, but older files hold things between them that are none: where one begins, nothing more is known.
 */
export async function isCutQuickTime(handle: FileHandle, size: number): Promise<boolean> {
  let tables = false;
  let position = 0;
  for (let count = 0; position < size && count < MAX_BOXES; count++) {
    const head = await bytesAt(handle, position);
    if (head.length < 8) return true;
    const type = head.toString('latin1', 4, 8);
    if (!BOX_TYPE.test(type)) return false;
    tables ||= type === 'moov';
    const short = head.readUInt32BE(0);
    if (short === 0) return !tables;
    if (short === 1 && head.length < 16) return true;
    const length = short === 1 ? Number(head.readBigUInt64BE(8)) : short;
    if (length < 8) return false;
    position += length;
  }
  return position > size || (position === size && !tables);
}

const EBML_HEADER = 0x1a45dfa3;
const SEGMENT = 0x18538067;

/** Whether a WebM file says itself that it is longer: live recordings do not say how long they are. */
export async function isCutWebm(handle: FileHandle, size: number): Promise<boolean> {
  const header = await elementAt(handle, 0, EBML_HEADER);
  if (header === undefined) return false;
  const segment = await elementAt(handle, header, SEGMENT);
  return segment !== undefined && segment > size;
}

/** Where the element that begins here ends; undefined when it is another one, or does not say. */
async function elementAt(handle: FileHandle, position: number, id: number): Promise<number | undefined> {
  const head = await bytesAt(handle, position);
  if (head.length < 5 || head.readUInt32BE(0) !== id) return undefined;
  const first = head[4]!;
  const width = Math.clz32(first) - 23;
  if (width > 8 || head.length < 4 + width) return undefined;
  let value = BigInt(first & (0xff >> width));
  for (const byte of head.subarray(5, 4 + width)) value = value * 256n + BigInt(byte);
  const unknown = value === 2n ** BigInt(7 * width) - 1n;
  return unknown ? undefined : position + 4 + width + Number(value);
}

async function bytesAt(handle: FileHandle, position: number): Promise<Buffer> {
  const bytes = Buffer.alloc(16);
  const { bytesRead } = await handle.read(bytes, 0, bytes.length, position);
  return bytes.subarray(0, bytesRead);
}
