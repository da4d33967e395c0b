/** Header values as undici returns them. A repeated header is an array. */
export type HeaderValues = { readonly [name: string]: string | readonly string[] | undefined };

/** Matches `retry-after`, `retry-after-ms` and variants such as `x-provider-retry-after` (test/fixtures/wire). */
const NAME = /^(?:[a-z0-9-]{1,60}-)?retry-after(-ms|-seconds)?$/;
const NUMBERS = /^\d+(?:\.\d+)?(?:\s*,\s*\d+(?:\.\d+)?)*$/;
/** The latest time that a Date can represent. */
const END_OF_TIME = 8_640_000_000_000_000;

/**
 * Returns how long the service asks us to wait, in milliseconds from now; undefined without a valid value. A date is
 * relative to the reply's `Date` header, so clock differences do not matter, or to `nowMs` without that header. Zero
 * and past dates are valid and give 0. Negative numbers, exponents and other text are invalid. If there are several
 * values, the longest wait is used. It is reduced only if a Date could not represent its end.
 */
export function parseRetryAfter(headers: HeaderValues, nowMs: number): number | undefined {
  const sentAt = repliedAt(headers, nowMs) ?? nowMs;
  const waits = valuesIn(headers).flatMap(
    ({ text, milliseconds }) => parseValue(text, milliseconds, sentAt) ?? [],
  );
  const longest = Math.max(...waits);
  return waits.length === 0 ? undefined : Math.min(longest, END_OF_TIME - nowMs);
}

/** Whether the service asks for another attempt, even if the time is unreadable. */
export function asksToRetry(headers: HeaderValues): boolean {
  return valuesIn(headers).some(({ text }) => text !== '');
}

function valuesIn(headers: HeaderValues): { readonly text: string; readonly milliseconds: boolean }[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    const match = NAME.exec(name.toLowerCase());
    if (match === null || value === undefined) return [];
    const texts = typeof value === 'string' ? [value] : value;
    return texts.map((text) => ({ text: text.trim(), milliseconds: match[1] === '-ms' }));
  });
}

/** The `Date` header. If it is repeated, the first value is used, because proxies append their own. */
function repliedAt(headers: HeaderValues, nowMs: number): number | undefined {
  const [, value] = Object.entries(headers).find(([name]) => name.toLowerCase() === 'date') ?? [];
  const text = typeof value === 'string' ? value : value?.[0];
  return text === undefined ? undefined : dateMs(text.trim(), nowMs);
}

function parseValue(text: string, milliseconds: boolean, sentAt: number): number | undefined {
  if (NUMBERS.test(text)) {
    const largest = text.split(',').reduce((most, part) => Math.max(most, Number(part)), 0);
    return Math.ceil(milliseconds ? largest : largest * 1000);
  }
  const at = dateMs(text, sentAt);
  return at === undefined ? undefined : Math.max(0, at - sentAt);
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAY = '(?:mon|tue|wed|thu|fri|sat|sun)';
const LONG_DAY = '(?:mon|tues|wednes|thurs|fri|satur|sun)day';
const MONTH = `(${MONTHS.join('|')})`;
const TIME = '(\\d{2}):(\\d{2}):(\\d{2})';

/** `Sun, 06 Nov 1994 08:49:37 GMT` */
const IMF_FIXDATE = new RegExp(`^${DAY}, (\\d{2}) ${MONTH} (\\d{4}) ${TIME} gmt$`, 'i');
/** `Sunday, 06-Nov-94 08:49:37 GMT` */
const RFC_850 = new RegExp(`^${LONG_DAY}, (\\d{2})-${MONTH}-(\\d{2}) ${TIME} gmt$`, 'i');
/** `Sun Nov  6 08:49:37 1994` */
const ASCTIME = new RegExp(`^${DAY} ${MONTH} ([ \\d]\\d) ${TIME} (\\d{4})$`, 'i');

/** Parses an HTTP date in any of RFC 9110's three formats into milliseconds since the Unix epoch. */
export function dateMs(text: string, nowMs: number): number | undefined {
  const imf = IMF_FIXDATE.exec(text);
  if (imf !== null) return utc(imf[3], imf[2], imf[1], imf.slice(4, 7));
  const old = RFC_850.exec(text);
  if (old !== null) return utc(fullYear(Number(old[3]), nowMs), old[2], old[1], old.slice(4, 7));
  const asctime = ASCTIME.exec(text);
  if (asctime !== null) return utc(asctime[6], asctime[1], asctime[2], asctime.slice(3, 6));
  return undefined;
}

/**
 * Expands a two-digit year. A year more than 50 years ahead becomes the last past year with those digits (RFC 9110,
 * 5.6.7).
 */
function fullYear(twoDigits: number, nowMs: number): number {
  const thisYear = new Date(nowMs).getUTCFullYear();
  const year = Math.floor(thisYear / 100) * 100 + twoDigits;
  if (year > thisYear + 50) return year - 100;
  return year <= thisYear - 50 ? year + 100 : year;
}

function utc(
  year: string | number | undefined,
  month: string | undefined,
  day: string | undefined,
  time: readonly (string | undefined)[],
): number | undefined {
  const [hours = NaN, minutes = NaN, seconds = NaN] = time.map(Number);
  if (hours > 23 || minutes > 59 || seconds > 60) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), MONTHS.indexOf(String(month).toLowerCase()), Number(day));
  // Date rolls over a day that the month does not have.
  if (date.getUTCDate() !== Number(day)) return undefined;
  return date.setUTCHours(hours, minutes, seconds);
}

/** The headers of a media body. Do not trust a value before checking it against the bytes. */
export interface ContentHeaders {
  readonly contentType: string | null;
  readonly contentLength: number | null;
  readonly contentRange: { readonly from: number; readonly to: number; readonly total: number | null } | null;
  /** Strong ETags only. */
  readonly etag: string | null;
  /** Null for identity. Other encodings were not requested, so the caller must refuse them. */
  readonly contentEncoding: string | null;
}

/** Allows only characters that are common in ETags: heartbeats record the value and must not contain text or URLs. */
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

/** The body's length in bytes; null if the header is absent, repeated or not a plain number. */
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
