/** Header values as undici returns them: a repeated header is an array. */
export type HeaderValues = { readonly [name: string]: string | readonly string[] | undefined };

/** `retry-after`, `retry-after-ms` and variants of gateways such as `x-provider-retry-after` (test/fixtures/wire). */
const NAME = /^(?:[a-z0-9-]{1,60}-)?retry-after(-ms|-seconds)?$/;
const NUMBERS = /^\d+(?:\.\d+)?(?:\s*,\s*\d+(?:\.\d+)?)*$/;
/** Latest time that a Date can represent. */
const END_OF_TIME = 8_640_000_000_000_000;

/**
 * The wait that the service asks for, in milliseconds from now; undefined without a valid value. A date is relative to
 * the `Date` of the reply, so that a clock difference does not change the wait, and without one to `nowMs`. Zero and a
 * date in the past are valid and give 0; a negative number, an exponent, empty or any other text is invalid. Of several
 * values the longest counts. A valid value is only reduced so that a Date can represent the end of the wait.
 */
export function parseRetryAfter(headers: HeaderValues, nowMs: number): number | undefined {
  const sentAt = repliedAt(headers, nowMs) ?? nowMs;
  const waits = valuesIn(headers).flatMap(
    ({ text, milliseconds }) => parseValue(text, milliseconds, sentAt) ?? [],
  );
  const longest = Math.max(...waits);
  return waits.length === 0 ? undefined : Math.min(longest, END_OF_TIME - nowMs);
}

/** Whether the service asks for another try, also when the time is unreadable. */
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

/** The first value of a repeated `Date` header: a proxy appends its own. */
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

/** An HTTP date in any of the three grammars of RFC 9110, as milliseconds since the Unix epoch. */
export function dateMs(text: string, nowMs: number): number | undefined {
  const imf = IMF_FIXDATE.exec(text);
  if (imf !== null) return utc(imf[3], imf[2], imf[1], imf.slice(4, 7));
  const old = RFC_850.exec(text);
  if (old !== null) return utc(fullYear(Number(old[3]), nowMs), old[2], old[1], old.slice(4, 7));
  const asctime = ASCTIME.exec(text);
  if (asctime !== null) return utc(asctime[6], asctime[1], asctime[2], asctime.slice(3, 6));
  return undefined;
}

/** A two-digit year more than 50 years ahead means the most recent year with these digits (RFC 9110, 5.6.7). */
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
  // Date changes a day that the month does not have.
  if (date.getUTCDate() !== Number(day)) return undefined;
  return date.setUTCHours(hours, minutes, seconds);
}

/** The headers of a media body; no value is trusted until it is checked against the bytes. */
export interface ContentHeaders {
  readonly contentType: string | null;
  readonly contentLength: number | null;
  readonly contentRange: { readonly from: number; readonly to: number; readonly total: number | null } | null;
  /** Strong ETags only. */
  readonly etag: string | null;
  /** Null for identity; any other encoding was not requested, and the caller must refuse it. */
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
