import { boxesIn, uint16, uint32, uint8 } from './mp4-boxes';

/** What a sample entry of pictures says. */
interface Picture {
  readonly width: number;
  readonly height: number;
  /** RFC 6381 name, such as `avc1.42e01e`; its first four letters alone where the file does not say more. */
  readonly codec: string;
}

/** Length of a picture's sample entry without the boxes in it. */
const PICTURE_HEADER = 86;

/** Size and codec of the pictures that a sample entry describes. */
export function pictureOf(sampleEntry: Buffer): Picture {
  const type = sampleEntry.toString('latin1', 4, 8);
  return {
    width: uint16(sampleEntry, 32),
    height: uint16(sampleEntry, 34),
    codec: [type, detailsOf(type, sampleEntry)].filter((part) => part !== undefined).join('.'),
  };
}

/** Profile and level, from the first configuration of the decoder; undefined where there is none, or a cut one. */
function detailsOf(type: string, sampleEntry: Buffer): string | undefined {
  const codec = CODECS[type.slice(0, 3)];
  if (codec === undefined) return undefined;
  try {
    for (const box of boxesIn(sampleEntry, PICTURE_HEADER))
      if (box.type === codec.box)
        return codec.details(sampleEntry.subarray(box.start + box.headerBytes, box.end));
  } catch (_error) {
    // The rest of the file is checked by its tables, whatever it says of its codec.
  }
  return undefined;
}

const hex = (byte: number): string => byte.toString(16).padStart(2, '0');
const decimal = (number: number): string => String(number).padStart(2, '0');

const AVC = {
  box: 'avcC',
  details: (bytes: Buffer) => [1, 2, 3].map((at) => hex(uint8(bytes, at))).join(''),
};
const HEVC = { box: 'hvcC', details: hevcDetails };

/** By the first three letters of a sample entry (ISO/IEC 14496-15 annex E; the AV1 and VP9 bindings). */
const CODECS: { readonly [letters: string]: { box: string; details: (bytes: Buffer) => string } } = {
  avc: AVC,
  hvc: HEVC,
  hev: HEVC,
  av0: {
    box: 'av1C',
    details: (bytes) => {
      const [first, second] = [uint8(bytes, 1), uint8(bytes, 2)];
      const profile = first >> 5;
      const depth = (second & 0x40) === 0 ? 8 : profile === 2 && (second & 0x20) !== 0 ? 12 : 10;
      return `${profile}.${decimal(first & 0x1f)}${(second & 0x80) === 0 ? 'M' : 'H'}.${decimal(depth)}`;
    },
  },
  vp0: {
    box: 'vpcC',
    details: (bytes) => [uint8(bytes, 4), uint8(bytes, 5), uint8(bytes, 6) >> 4].map(decimal).join('.'),
  },
};

function hevcDetails(bytes: Buffer): string {
  const profile = uint8(bytes, 1);
  const bits = uint32(bytes, 2).toString(2).padStart(32, '0');
  const compatible = parseInt([...bits].reverse().join(''), 2).toString(16);
  const constraints = [6, 7, 8, 9, 10, 11].map((at) => uint8(bytes, at));
  while (constraints.at(-1) === 0) constraints.pop();
  const level = `${(profile & 0x20) === 0 ? 'L' : 'H'}${uint8(bytes, 12)}`;
  const space = ['', 'A', 'B', 'C'][profile >> 6] ?? '';
  return [
    `${space}${profile & 0x1f}`,
    compatible,
    level,
    ...constraints.map((byte) => byte.toString(16)),
  ].join('.');
}
