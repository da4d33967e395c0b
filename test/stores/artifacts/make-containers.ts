// Files of a few bytes in other containers than MP4, each part made here.

interface Length {
  /** Bytes that it is written in. @default 1 */
  readonly width?: number;
  /** Null where it is not known. @default that of the body */
  readonly length?: number | null;
}

/** An element of Matroska. */
export function element(id: number, body: Buffer, { width = 1, length = body.length }: Length = {}): Buffer {
  const head = Buffer.from(id.toString(16), 'hex');
  const size = Buffer.alloc(width);
  const ones = 2n ** BigInt(7 * width);
  let rest = ones + (length === null ? ones - 1n : BigInt(length));
  for (let at = width - 1; at >= 0; at -= 1, rest /= 256n) size[at] = Number(rest % 256n);
  return Buffer.concat([head, size, body]);
}

/** Of a live recording. */
export const live: Length = { length: null };

export const ebml = (type: string) => element(0x1a45dfa3, element(0x4282, Buffer.from(type)));

const SEGMENT = 0x18538067;
const PICTURE = 1;
export const SOUND = 2;
export const segment = (parts: readonly Buffer[], options: Length = {}) =>
  element(SEGMENT, Buffer.concat(parts), { width: 8, ...options });
export const tracks = (...types: readonly number[]) =>
  element(
    0x1654ae6b,
    Buffer.concat(
      types.map((type) =>
        element(0xae, Buffer.concat([element(0xd7, Buffer.from([1])), element(0x83, Buffer.from([type]))])),
      ),
    ),
  );
export const cluster = (bytes: number, options: Length = {}) =>
  element(0x1f43b675, element(0xa3, Buffer.alloc(bytes)), options);

export const matroska = (...types: readonly number[]) =>
  Buffer.concat([ebml('matroska'), segment([tracks(...types), cluster(40)])]);
export const webm = () => Buffer.concat([ebml('webm'), segment([tracks(SOUND, PICTURE), cluster(40)])]);

/** A packet of a transport stream, filled up. */
function packet(pid: number, payload: Buffer): Buffer {
  const head = Buffer.from([0x47, 0x40 | (pid >> 8), pid & 0xff, 0x10]);
  return Buffer.concat([head, payload, Buffer.alloc(188 - 4 - payload.length, 0xff)]);
}

/** A table of a transport stream, with its pointer and a checksum that nobody reads. */
function section(tableId: number, body: Buffer): Buffer {
  const length = 5 + body.length + 4;
  const head = Buffer.from([0, tableId, 0xb0 | (length >> 8), length & 0xff, 0, 1, 0xc1, 0, 0]);
  return Buffer.concat([head, body, Buffer.alloc(4)]);
}

/** @param streams type and descriptors of each stream @param step length of a packet in the file */
export function transportStream(
  streams: readonly (readonly [type: number, about?: string])[],
  step = 188,
): Buffer {
  const entries = streams.map(([type, about = ''], index) =>
    Buffer.concat([Buffer.from([type, 0xe1, index, 0xf0, about.length]), Buffer.from(about, 'latin1')]),
  );
  const packets = [
    packet(0x11, section(0x42, Buffer.alloc(10))),
    packet(0, section(0, Buffer.from([0, 1, 0xe1, 0x00]))),
    packet(0x100, section(2, Buffer.concat([Buffer.from([0xe1, 0, 0xf0, 0]), ...entries]))),
    ...[1, 2, 3].map(() => packet(0x101, Buffer.alloc(100))),
  ];
  const before = Buffer.alloc(step === 192 ? 4 : 0, 0x12);
  const behind = Buffer.alloc(step === 204 ? 16 : 0, 0x13);
  return Buffer.concat(packets.flatMap((one) => [before, one, behind]));
}

/** A chunk of AVI. @param length as it says itself */
export function chunk(type: string, body: Buffer, length = body.length): Buffer {
  const head = Buffer.alloc(8);
  head.write(type, 0, 'latin1');
  head.writeUInt32LE(length, 4);
  return Buffer.concat([head, body, Buffer.alloc(body.length % 2)]);
}

const list = (type: string, ...parts: readonly Buffer[]) =>
  chunk('LIST', Buffer.concat([Buffer.from(type, 'latin1'), ...parts]));

/** @param streams types of them @param length of the file, as it says itself; of several parts, that of the first */
export function avi(streams: readonly string[], length?: number): Buffer {
  const headers = streams.map((type) =>
    list('strl', chunk('strh', Buffer.from(`${type}H264`.padEnd(56, '\0')))),
  );
  const body = Buffer.concat([
    Buffer.from('AVI '),
    list('hdrl', chunk('avih', Buffer.alloc(56)), ...headers),
    list('movi', chunk('00dc', Buffer.alloc(41))),
    chunk('idx1', Buffer.alloc(16)),
  ]);
  return chunk('RIFF', body, length);
}
