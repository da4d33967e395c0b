import { type ByteSource, type ContainerCheck, HeaderReader, readRange } from './byte-source';

const EBML_HEADER = 0x1a45dfa3;
const SEGMENT = 0x18538067;
const TRACKS = 0x1654ae6b;
const TRACK_ENTRY = 0xae;
const TRACK_TYPE = 0x83;
const PICTURE = 1;
/** Elements of a segment, and of a cluster whose size is unknown; bytes that are none of them are not read on. */
const KNOWN: ReadonlySet<number> = new Set([
  SEGMENT,
  TRACKS,
  // SeekHead, Info, Cluster, Cues, Attachments, Chapters, Tags, Void, CRC-32.
  ...[0x114d9b74, 0x1549a966, 0x1f43b675, 0x1c53bb6b, 0x1941a469, 0x1043a770, 0x1254c367, 0xec, 0xbf],
  // Timestamp, SilentTracks, Position, PrevSize, SimpleBlock, BlockGroup, EncryptedBlock.
  ...[0xe7, 0x5854, 0xa7, 0xab, 0xa3, 0xa0, 0xaf],
]);

/** Bounds of what is read. */
const MAX_ELEMENTS = 1_000_000;
const MAX_TRACKS_BYTES = 1024 * 1024;

/**
 * What the elements of a Matroska or WebM file say: whether there is a picture track, and whether an element ends behind
 * the file. Live recordings do not state the length of their segment, so that their elements are walked.
 */
export async function checkMatroska(bytes: ByteSource, size: number): Promise<ContainerCheck> {
  const headers = new HeaderReader(bytes);
  const first = elementIn(await headers.at(0));
  let hasPicture = false;
  let position = first?.id === EBML_HEADER ? first.headerBytes + (first.length ?? size) : size;
  for (let read = 0; position < size && read < MAX_ELEMENTS; read += 1) {
    const element = elementIn(await headers.at(position));
    if (element === undefined || !KNOWN.has(element.id)) break;
    const body = position + element.headerBytes;
    if (element.length !== undefined && body + element.length > size) return 'cut';
    if (element.id === TRACKS && element.length !== undefined && element.length <= MAX_TRACKS_BYTES)
      hasPicture ||= namesPicture(await readRange(bytes, body, element.length));
    // A segment, and what has no known length, is entered.
    const isEntered = element.length === undefined || element.id === SEGMENT;
    position = isEntered ? body : body + element.length;
    if (element.id === SEGMENT && element.length !== undefined && hasPicture) break;
  }
  return hasPicture ? 'has_picture' : 'no_picture';
}

function namesPicture(tracks: Buffer): boolean {
  return [...elementsOf(tracks)].some(
    ({ id, body }) =>
      id === TRACK_ENTRY &&
      [...elementsOf(body)].some((one) => one.id === TRACK_TYPE && one.body.at(-1) === PICTURE),
  );
}

function* elementsOf(bytes: Buffer): Generator<{ readonly id: number; readonly body: Buffer }> {
  for (let position = 0; position < bytes.length;) {
    const element = elementIn(bytes.subarray(position, position + 16));
    if (element?.length === undefined) return;
    const body = position + element.headerBytes;
    yield { id: element.id, body: bytes.subarray(body, body + element.length) };
    position = body + element.length;
  }
}

interface ElementHeader {
  readonly id: number;
  readonly headerBytes: number;
  /** Undefined when it is not known. */
  readonly length: number | undefined;
}

/** The header of an element; undefined where these bytes are not a whole one. */
function elementIn(head: Buffer): ElementHeader | undefined {
  const idBytes = widthOf(head[0]);
  const lengthBytes = widthOf(head[idBytes]);
  const headerBytes = idBytes + lengthBytes;
  if (idBytes > 4 || lengthBytes > 8 || head.length < headerBytes) return undefined;
  let length = BigInt(head[idBytes]! & (0xff >> lengthBytes));
  for (const byte of head.subarray(idBytes + 1, headerBytes)) length = length * 256n + BigInt(byte);
  const isUnknown = length === 2n ** BigInt(7 * lengthBytes) - 1n;
  return { id: head.readUIntBE(0, idBytes), headerBytes, length: isUnknown ? undefined : Number(length) };
}

/** Bytes of a number, by the zeros before the first one in it; 9 where that byte is 0 or not there. */
const widthOf = (first: number | undefined) => Math.clz32(first ?? 0) - 23;
