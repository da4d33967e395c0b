import { type ByteSource, type ContainerCheck, readRange } from './byte-source';

const TS_SYNC = 0x47;
const PACKET = 188;
/** The packet formats in a file: plain, preceded by a timestamp (M2TS), or followed by a checksum. */
const FORMS = [
  { step: 188, before: 0 },
  { step: 192, before: 4 },
  { step: 204, before: 0 },
] as const;
/** How many bytes to search. The tables repeat several times per second. */
const SEARCHED = 4 * 1024 * 1024;

/** Video stream types: MPEG-1 to 4, H.264, HEVC, VVC, JPEG 2000, AVS, Dirac, VC-1. */
const PICTURE_TYPES: ReadonlySet<number> = new Set([
  ...[0x01, 0x02, 0x10, 0x1b, 0x1f, 0x20, 0x21, 0x24, 0x33, 0x42, 0xd1, 0xd2, 0xd4, 0xea],
]);
/** Registration descriptors of video in private streams (0x06). */
const REGISTERED = /AV01|HEVC|VVC1|VC-1|drac/;

/** The packet format of a transport stream; undefined for other bytes. */
export function tsFormOf(head: Buffer): (typeof FORMS)[number] | undefined {
  return FORMS.find(({ step, before }) =>
    [0, 1, 2].every((index) => head[before + index * step] === TS_SYNC),
  );
}

/** Checks whether a transport stream's tables list video and whether its last packet is truncated. */
export async function checkMpegTs(bytes: ByteSource, size: number): Promise<ContainerCheck> {
  const begin = await readRange(bytes, 0, Math.min(size, SEARCHED));
  const form = tsFormOf(begin);
  if (form === undefined) return 'no_picture';
  const { step, before } = form;
  const rest = size % step;
  const [sync] = rest > before ? await readRange(bytes, size - rest + before, 1) : [];
  if (sync === TS_SYNC) return 'cut';
  const maps = new Set<number>();
  for (let at = before; at + PACKET <= begin.length; at += step) {
    const packet = begin.subarray(at, at + PACKET);
    const pid = packet.readUInt16BE(1) & 0x1fff;
    const section = sectionIn(packet);
    if (section === undefined) continue;
    if (pid === 0) for (const map of mapsIn(section)) maps.add(map);
    else if (maps.has(pid) && hasPicture(section)) return 'has_picture';
  }
  return 'no_picture';
}

/** The section that starts in a packet: only the part inside this packet, without the checksum. */
function sectionIn(packet: Buffer): Buffer | undefined {
  const begins = (packet[1]! & 0x40) !== 0;
  const hasPayload = (packet[3]! & 0x10) !== 0;
  if (packet[0] !== TS_SYNC || !begins || !hasPayload) return undefined;
  const start = (packet[3]! & 0x20) === 0 ? 4 : 5 + packet[4]!;
  const section = packet.subarray(start + 1 + (packet[start] ?? 0));
  if (section.length < 12) return undefined;
  return section.subarray(0, Math.max(0, (section.readUInt16BE(1) & 0xfff) + 3 - 4));
}

/** Yields the PIDs of all program map tables in a program association table. */
function* mapsIn(section: Buffer): Generator<number> {
  for (let at = 8; at + 4 <= section.length; at += 4)
    if (section.readUInt16BE(at) !== 0) yield section.readUInt16BE(at + 2) & 0x1fff;
}

function hasPicture(section: Buffer): boolean {
  if (section.length < 12 || section[0] !== 2) return false;
  for (let at = 12 + (section.readUInt16BE(10) & 0xfff); at + 5 <= section.length;) {
    const type = section[at]!;
    const about = section.subarray(at + 5, at + 5 + (section.readUInt16BE(at + 3) & 0xfff));
    if (PICTURE_TYPES.has(type) || (type === 0x06 && REGISTERED.test(about.toString('latin1')))) return true;
    at += 5 + about.length;
  }
  return false;
}
