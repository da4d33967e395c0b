import { type ByteSource, type ContainerCheck, HeaderReader, readRange } from './byte-source';

/** Streams with pictures: video, and DV with its sound. */
const PICTURE_STREAMS: ReadonlySet<string> = new Set(['vids', 'iavs']);
const MAX_HEADER_BYTES = 1024 * 1024;
/** Each part of a large file has a gigabyte or two. */
const MAX_PARTS = 10_000;

/** Whether an AVI file has a picture stream, and whether a part of it ends behind the file; a recording that was interrupted has no length. */
export async function checkAvi(bytes: ByteSource, size: number): Promise<ContainerCheck> {
  const headers = new HeaderReader(bytes);
  for (let part = 0, at = 0; at < size && part < MAX_PARTS; part += 1) {
    const head = await headers.at(at);
    if (head.length < 12 || textAt(head, 0) !== 'RIFF') break;
    const length = head.readUInt32LE(4);
    if (length === 0 || length === 0xffffffff) break;
    at += 8 + length + (length % 2);
    // The byte that makes an odd length even may be left out.
    if (at - (length % 2) > size) return 'cut';
  }
  const list = await headers.at(12);
  if (list.length < 12 || textAt(list, 0) !== 'LIST' || textAt(list, 8) !== 'hdrl') return 'no_picture';
  const header = await readRange(bytes, 24, Math.min(list.readUInt32LE(4) - 4, MAX_HEADER_BYTES));
  for (const { type, body } of chunksOf(header))
    if (type === 'LIST' && textAt(body, 0) === 'strl')
      for (const stream of chunksOf(body.subarray(4)))
        if (stream.type === 'strh' && PICTURE_STREAMS.has(textAt(stream.body, 0))) return 'has_picture';
  return 'no_picture';
}

function* chunksOf(bytes: Buffer): Generator<{ readonly type: string; readonly body: Buffer }> {
  for (let at = 0; at + 8 <= bytes.length;) {
    const length = bytes.readUInt32LE(at + 4);
    yield { type: textAt(bytes, at), body: bytes.subarray(at + 8, at + 8 + length) };
    at += 8 + length + (length % 2);
  }
}

const textAt = (bytes: Buffer, at: number) => bytes.toString('latin1', at, at + 4);
