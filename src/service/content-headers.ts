import { type HeaderValues } from './retry-after';

/** The headers of a media body; no value is trusted until it is checked against the bytes. */
export interface ContentHeaders {
  readonly contentType: string | null;
  readonly contentLength: number | null;
  readonly contentRange: { readonly from: number; readonly to: number; readonly total: number | null } | null;
  readonly etag: string | null;
  readonly contentEncoding: string | null;
}

/** Only characters that are usual in ETags: the value is written into heartbeats, which must not hold text or URLs. */
const STRONG_ETAG = /^"[\w.:;,+/=~-]{0,255}"$/;

export function contentHeaders(headers: HeaderValues): ContentHeaders {
  const encoding = single(headers['content-encoding'])?.trim().toLowerCase() ?? '';
  const etag = single(headers.etag)?.trim();
  return {
    contentType: single(headers['content-type'])?.slice(0, 200) ?? null,
    contentLength: contentLength(headers),
    contentRange: contentRange(single(headers['content-range'])),
    // A weak ETag starts with W/ and cannot resume a download.
    etag: etag !== undefined && STRONG_ETAG.test(etag) ? etag : null,
    contentEncoding: encoding === '' || encoding === 'identity' ? null : encoding.slice(0, 100),
  };
}

/** Bytes of the body; null when the header is absent, repeated or not a plain number. */
export function contentLength(headers: HeaderValues): number | null {
  const length = single(headers['content-length']);
  return length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : null;
}

function single(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.join(',');
}

function contentRange(text: string | undefined): ContentHeaders['contentRange'] {
  const match = /^\s*bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)\s*$/i.exec(text ?? '');
  if (match === null) return null;
  const from = Number(match[1]);
  const to = Number(match[2]);
  const total = match[3] === '*' ? null : Number(match[3]);
  return to < from || (total !== null && to >= total) ? null : { from, to, total };
}
