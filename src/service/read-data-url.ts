import { throwBug } from '../domain/bug';

const HEAD = /^data:([\w.+-]+\/[\w.+-]+)?((?:;[\w.+-]+=[^;,"\s]*)*)(;base64)?,/i;

/** The bytes of a `data:` URL; undefined when the text is not one, is empty, or has more than `maxBytes`. */
export function readDataUrl(url: string, maxBytes: number): Buffer | undefined {
  const head = HEAD.exec(url.slice(0, 512));
  if (head === null) return undefined;
  const payload = url.slice(head[0].length);
  if (head[3] !== undefined) return readBase64(percentDecoded(payload), maxBytes);
  // Percent-encoding takes at most three characters for each byte.
  if (payload.length > maxBytes * 3) return undefined;
  const bytes = Buffer.from(percentDecoded(payload) ?? '', 'utf8');
  return bytes.length === 0 || bytes.length > maxBytes ? undefined : bytes;
}

/** The bytes of Base64 in either alphabet, with or without blanks; undefined when it is empty, invalid or too large. */
export function readBase64(text: string | undefined, maxBytes: number): Buffer | undefined {
  if (text === undefined) return undefined;
  const packed = /\s/.test(text) ? text.replace(/\s+/g, '') : text;
  if (packed === '' || packed.length / 4 > Math.ceil(maxBytes / 3) + 1) return undefined;
  // The decoder uses only the low byte of a character, so non-ASCII text is refused.
  if (Buffer.byteLength(packed, 'utf8') !== packed.length) return undefined;
  // No regular expression over the whole text: on megabytes it can exhaust the stack. The decoder skips invalid
  // characters, so invalid text gives too few bytes.
  const end = packed.length - (packed.endsWith('==') ? 2 : packed.endsWith('=') ? 1 : 0);
  const bytes = Buffer.from(packed, 'base64');
  if (end % 4 === 1 || bytes.length !== Math.floor((end * 3) / 4)) return undefined;
  return bytes.length === 0 || bytes.length > maxBytes ? undefined : bytes;
}

function percentDecoded(text: string): string | undefined {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch (error) {
    throwBug(error);
    return undefined;
  }
}
