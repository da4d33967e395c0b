import { gzipSync, inflateRawSync } from 'node:zlib';

/** A value that must not leave the places where it belongs, made to be found in any encoding. */
export interface Canary {
  readonly name: string;
  /** The value as it is used: a key, a cookie, a prompt. */
  readonly value: string;
  /** The part that is looked for, case not looked at: a value that was cut is found too. */
  readonly core: string;
}

/**
 * A core that differs in every encoding: `~` and `+` change Base64 against Base64url, and percent-encoding.
 * @param seed letters and digits only
 */
export function canary(
  name: string,
  seed: string,
  around: (core: string) => string = (core) => core,
): Canary {
  const core = `${seed}~Cnry+${seed}`;
  return { name, core, value: around(core) };
}

/** One way in which a value may be written down. */
export interface Encoding {
  readonly name: string;
  /** Every look of the core inside of other bytes. */
  looks(core: string): readonly string[];
  /** The core as somebody would write it, with neighbours: for controls. */
  write(core: string): Buffer;
}

const bytesOf = (text: string): Buffer => Buffer.from(text, 'utf8');
const perByte = (text: string, form: (hex: string) => string): string =>
  [...bytesOf(text)].map((byte) => form(byte.toString(16).padStart(2, '0'))).join('');

/** The letters of Base64 that no neighbour decides, for each of the three ways to begin. */
function base64Looks(core: string): string[] {
  return [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), bytesOf(core)]);
    const whole = bytes.toString('base64').replace(/=+$/, '');
    return whole.slice([0, 2, 3][before], bytes.length % 3 === 0 ? whole.length : -1);
  });
}
const urlSafe = (text: string): string => text.replaceAll('+', '-').replaceAll('/', '_');

export const ENCODINGS: readonly Encoding[] = [
  { name: 'raw', looks: (core) => [core], write: (core) => bytesOf(`a ${core} b`) },
  {
    name: 'base64',
    looks: base64Looks,
    write: (core) => bytesOf(bytesOf(`user:${core} b`).toString('base64')),
  },
  {
    name: 'base64url',
    looks: (core) => base64Looks(core).map(urlSafe),
    write: (core) => bytesOf(bytesOf(`us:${core}!`).toString('base64url')),
  },
  {
    name: 'percent',
    looks: (core) => [encodeURIComponent(core), perByte(core, (hex) => `%${hex}`)],
    write: (core) => bytesOf(`a=${encodeURIComponent(core)}&b=1`),
  },
  {
    name: 'hex',
    looks: (core) => [bytesOf(core).toString('hex')],
    write: (core) => bytesOf(`00${bytesOf(core).toString('hex').toUpperCase()}ff`),
  },
  {
    name: 'unicode escapes',
    looks: (core) => [perByte(core, (hex) => `\\u00${hex}`)],
    write: (core) => bytesOf(`"${perByte(core, (hex) => `\\u00${hex}`)}"`),
  },
  {
    name: 'utf-16',
    looks: (core) => [Buffer.from(core, 'utf16le').toString('latin1')],
    write: (core) => Buffer.from(`a ${core} b`, 'utf16le'),
  },
  // Looked for by unpacking: see `search`.
  { name: 'gzip', looks: () => [], write: (core) => gzipSync(bytesOf(`a ${core} b`)) },
];

export interface Hit {
  readonly canary: string;
  readonly encoding: string;
  /** What stands around it, so that a miss names the leak. */
  readonly around: string;
}

/** Finds canaries in bytes, whatever these are, in every encoding and inside of gzip members. */
export class CanarySearch {
  readonly #needles: readonly { canary: string; encoding: string; look: string }[];

  constructor(canaries: readonly Canary[]) {
    this.#needles = canaries.flatMap(({ name, core }) =>
      ENCODINGS.flatMap((encoding) =>
        [...new Set(encoding.looks(core))].map((look) => ({
          canary: name,
          encoding: encoding.name,
          look: look.toLowerCase(),
        })),
      ),
    );
  }

  hits(bytes: Buffer): Hit[] {
    const text = bytes.toString('latin1').toLowerCase();
    const found = this.#needles.flatMap(({ canary: name, encoding, look }) => {
      const at = text.indexOf(look);
      if (at < 0) return [];
      const around = text.slice(Math.max(0, at - 120), at + look.length + 60);
      return [{ canary: name, encoding, around }];
    });
    return [...found, ...this.#packed(bytes)];
  }

  #packed(bytes: Buffer): Hit[] {
    const found: Hit[] = [];
    for (let at = bytes.indexOf(GZIP); at >= 0; at = bytes.indexOf(GZIP, at + 1)) {
      const inside = unpacked(bytes.subarray(at));
      if (inside !== undefined) found.push(...this.hits(inside).map((hit) => ({ ...hit, encoding: 'gzip' })));
    }
    return found;
  }
}

const GZIP = Buffer.from([0x1f, 0x8b, 0x08]);

function unpacked(bytes: Buffer): Buffer | undefined {
  try {
    // Not as gzip: what follows the member would be an error.
    return inflateRawSync(bytes.subarray(headerEnd(bytes)), { maxOutputLength: 16 * 1024 * 1024 });
  } catch {
    return undefined;
  }
}

/** Ten bytes, and a name where the flags say so; other fields are never written here. */
function headerEnd(bytes: Buffer): number {
  return ((bytes[3] ?? 0) & 8) === 0 ? 10 : bytes.indexOf(0, 10) + 1;
}

/** Something that is searched: a name for people, and its bytes. */
export interface Searched {
  readonly where: string;
  readonly bytes: Buffer;
}

export const searched = (where: string, text: string | Buffer): Searched => ({
  where,
  bytes: typeof text === 'string' ? bytesOf(text) : text,
});
