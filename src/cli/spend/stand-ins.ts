import { createHash } from 'node:crypto';
import { SNIFF_BYTES, sniffMedia } from '../../artifacts/media-type';
import { type JsonValue } from '../../domain/json';
import { type ArtifactRef, type MediaSource } from '../../domain/media';
import { readDataUrl } from '../../service/data-url';
import { type WireFile } from '../../service/wire-body';
import { shownLocation } from '../shown-location';

/** Largest inline reference, as the worker has it. */
const MAX_INLINE_BYTES = 64 * 1024 * 1024;

/**
 * Small files that take the place of media in a request that is only shown: the builders of real requests put them
 * where the bytes go, and the words about the bytes take their place at the end.
 */
export class StandIns {
  private readonly words = new Map<string, string>();

  /** A file of which the bytes are known. */
  ofArtifact(artifact: ArtifactRef): WireFile {
    return this.add(artifact.mediaType, bytesText(artifact));
  }

  /** The bytes behind an address: the worker fetches them, nobody does here. */
  ofUrl(url: string): WireFile {
    if (!/^data:/i.test(url))
      return this.add('<media type>', `<bytes of ${shownAddress(url)}, fetched by the worker>`);
    const bytes = readDataUrl(url, MAX_INLINE_BYTES) ?? Buffer.alloc(0);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const media = sniffMedia(bytes.subarray(0, SNIFF_BYTES));
    return this.add(media?.mediaType ?? '<media type>', bytesText({ sha256, bytes: bytes.length }));
  }

  of(source: MediaSource): WireFile | undefined {
    if ('artifact' in source) return this.ofArtifact(source.artifact);
    return 'url' in source ? this.ofUrl(source.url) : undefined;
  }

  /** A value of a body with the words in place of the stand-ins, and addresses without what may be a signature. */
  show(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.showText(value);
    if (Array.isArray(value)) return value.map((item) => this.show(item));
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, this.show(item)]));
  }

  showText(text: string): string {
    const prefix = /^data:[^,]*;base64,/i.exec(text)?.[0] ?? '';
    const words = this.words.get(text.slice(prefix.length));
    return words === undefined ? shownAddress(text) : `${prefix}${words}`;
  }

  private add(mediaType: string, words: string): WireFile {
    const data = Buffer.from(`stand-in ${this.words.size}`);
    this.words.set(data.toString('base64'), words);
    return { source: { data }, mediaType, sha256: '', bytes: data.length };
  }
}

/** What stands for bytes in a request that is shown. */
export function bytesText({ sha256, bytes }: { readonly sha256: string; readonly bytes: number }): string {
  return `<file sha256:${sha256} ${bytes} bytes>`;
}

/** A query may be a signature (C5.4b): that there is one is all that is said. */
function shownAddress(text: string): string {
  if (!/^https?:\/\/\S+$/i.test(text)) return text;
  const shown = shownLocation(text);
  return text.includes('?') ? `${shown}?<query>` : shown;
}
