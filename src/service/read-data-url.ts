import { throwBug } from '../domain/bug';

const HEAD = /^data:([\w.+-]+\/[\w.+-]+)?((?:;[\w.+-]+=[^;,"\s]*)*)(;base64)?,/i;

/**
 * Decodes a `data:` URL. Undefined if the text is not a `data:` URL, or if its data is empty, invalid or longer than
 * `maxBytes` bytes.
 */
export function readDataUrl(url: string, maxBytes: number): Buffer | undefined {
  const head = HEAD.exec(url.slice(0, 512));
  if (head === null) return undefined;
  const payload = url.slice(head[0].length);
  if (head[3] !== undefined) return readBase64(percentDecoded(payload), maxBytes);
  // Percent-encoding uses at most three characters per byte.
  if (payload.length > maxBytes * 3) return undefined;
  const bytes = Buffer.from(percentDecoded(payload) ?? '', 'utf8');
  return bytes.length === 0 || bytes.length > maxBytes ? undefined : bytes;
}

/** Decodes Base64 in either alphabet and ignores white space. Undefined if it is empty, invalid or too large. */
export function readBase64(text: string | undefined, maxBytes: number): Buffer | undefined {
  if (text === undefined) return undefined;
  const packed = /\s/.test(text) ? text.replace(/\s+/g, '') : text;
  if (packed === '' || packed.length / 4 > Math.ceil(maxBytes / 3) + 1) return undefined;
  // The decoder looks only at each character's low byte, so non-ASCII text must be rejected first.
  if (Buffer.byteLength(packed, 'utf8') !== packed.length) return undefined;
  // A regular expression could exhaust the stack on megabytes of text. Instead, rely on the decoder: it skips invalid
  // characters, so invalid text yields too few bytes.
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
