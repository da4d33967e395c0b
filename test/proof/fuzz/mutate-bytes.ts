import { type SeededRandom } from './seeded-random';

/** Longest input, in bytes: what takes more than linear time shows here already. */
export const MAX_INPUT = 65_536;

const BYTES = [
  0x00, 0x01, 0x09, 0x0a, 0x0d, 0x20, 0x22, 0x27, 0x2c, 0x2d, 0x2e, 0x2f, 0x30, 0x39, 0x3a, 0x5c,
];
const MORE_BYTES = [0x5b, 0x5d, 0x7b, 0x7d, 0x7f, 0x80, 0xbf, 0xc0, 0xe2, 0xed, 0xf0, 0xfe, 0xff];
const INTERESTING = [...BYTES, ...MORE_BYTES];
const NUMBERS_32 = [
  0, 1, 2, 7, 8, 9, 15, 16, 255, 65_535, 65_536, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff,
];
const DECIMALS = [
  '0',
  '-0',
  '-1',
  '1e308',
  '1e999',
  '0.1',
  '9007199254740993',
  '18446744073709551616',
  '00',
  '0x10',
];

/** Changes one to six places of an input, as damage and malice do; `words` are tokens that the parser knows. */
export function mutatedBytes(
  seed: Buffer,
  random: SeededRandom,
  words: readonly string[],
  others: readonly Buffer[],
): Buffer {
  let bytes: Buffer = Buffer.from(seed);
  for (let left = 1 + random.below(6); left > 0; left -= 1) bytes = changed(bytes, random, words, others);
  return bytes.length > MAX_INPUT ? bytes.subarray(0, MAX_INPUT) : bytes;
}

function changed(
  bytes: Buffer,
  random: SeededRandom,
  words: readonly string[],
  others: readonly Buffer[],
): Buffer {
  const at = random.below(bytes.length + 1);
  const length = 1 + random.below(random.oneIn(4) ? bytes.length + 1 : 8);
  switch (random.below(11)) {
    case 0:
      return set(bytes, at, (bytes[at] ?? 0) ^ (1 << random.below(8)));
    case 1:
      return set(bytes, at, random.pick(INTERESTING));
    case 2:
      return set(bytes, at, random.below(256));
    case 3:
      return spliced(bytes, at, length, EMPTY);
    case 4:
      return spliced(bytes, at, 0, bytes.subarray(random.below(bytes.length + 1)).subarray(0, length));
    case 5:
      return spliced(bytes, at, random.oneIn(2) ? 0 : length, heartbeatOf(random, words));
    case 6:
      return spliced(bytes, at, bytes.length, random.pick(others).subarray(at));
    case 7:
      return bytes.subarray(0, at);
    case 8:
      return number(bytes, at, random);
    case 9:
      return decimal(bytes, random);
    default:
      return random.oneIn(12)
        ? spliced(bytes, at, 0, repeated(random, words))
        : set(bytes, at, random.below(256));
  }
}

const EMPTY = Buffer.alloc(0);

function heartbeatOf(random: SeededRandom, words: readonly string[]): Buffer {
  const word = Buffer.from(random.pick(words));
  return random.oneIn(3) ? Buffer.concat([word, Buffer.from([random.pick(INTERESTING)])]) : word;
}

/** A run of one token: what a pattern that goes back again and again, or a deep nesting, needs. */
function repeated(random: SeededRandom, words: readonly string[]): Buffer {
  const token = heartbeatOf(random, words);
  const times = 1 + random.below(random.oneIn(4) ? 20_000 : 300);
  return Buffer.alloc(Math.min(MAX_INPUT, token.length * times), token.length === 0 ? ' ' : token);
}

function set(bytes: Buffer, at: number, value: number): Buffer {
  if (at >= bytes.length) return Buffer.concat([bytes, Buffer.from([value & 0xff])]);
  bytes[at] = value;
  return bytes;
}

function spliced(bytes: Buffer, at: number, drop: number, put: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(Math.min(bytes.length, at + drop))]);
}

/** A 32-bit or 64-bit big-endian number at a place where formats have one, or anywhere. */
function number(bytes: Buffer, place: number, random: SeededRandom): Buffer {
  const at = random.oneIn(2) ? place & ~3 : place;
  if (at + 8 > bytes.length) return bytes;
  if (random.oneIn(5)) bytes.writeUInt32BE(random.pick(NUMBERS_32), at + 4);
  const near = (bytes.readUInt32BE(at) + random.below(9) - 4) >>> 0;
  bytes.writeUInt32BE(random.oneIn(2) ? near : random.pick(NUMBERS_32), at);
  return bytes;
}

/** One of the decimal numbers in a text becomes another one. */
function decimal(bytes: Buffer, random: SeededRandom): Buffer {
  const text = bytes.toString('latin1', 0, 4096);
  const found = [...text.matchAll(/\d+/g)];
  if (found.length === 0) return bytes;
  const { index, 0: digits } = random.pick(found);
  return spliced(bytes, index, digits.length, Buffer.from(random.pick(DECIMALS)));
}
