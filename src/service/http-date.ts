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

/** An HTTP date in any of the three grammars of RFC 9110, as milliseconds since the epoch. */
export function dateMs(text: string, nowMs: number): number | undefined {
  const imf = IMF_FIXDATE.exec(text);
  if (imf !== null) return utc(imf[3], imf[2], imf[1], imf.slice(4, 7));
  const old = RFC_850.exec(text);
  if (old !== null) return utc(fullYear(Number(old[3]), nowMs), old[2], old[1], old.slice(4, 7));
  const asctime = ASCTIME.exec(text);
  if (asctime !== null) return utc(asctime[6], asctime[1], asctime[2], asctime.slice(3, 6));
  return undefined;
}

/** Two digits that would be more than 50 years ahead mean the last such year (RFC 9110, 5.6.7). */
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
  // A day that the month does not have has become another one.
  if (date.getUTCDate() !== Number(day)) return undefined;
  return date.setUTCHours(hours, minutes, seconds);
}
