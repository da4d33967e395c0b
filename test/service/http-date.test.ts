import { dateMs } from '../../src/service/reply-headers';

const IN_2026 = Date.UTC(2026, 5, 15);
const IN_2080 = Date.UTC(2080, 5, 15);

describe('an HTTP date', () => {
  it.each([
    ['Sun, 06 Nov 1994 08:49:37 GMT', Date.UTC(1994, 10, 6, 8, 49, 37)],
    ['sun, 06 nov 1994 08:49:37 gmt', Date.UTC(1994, 10, 6, 8, 49, 37)],
    ['Sunday, 06-Nov-94 08:49:37 GMT', Date.UTC(1994, 10, 6, 8, 49, 37)],
    ['Sun Nov  6 08:49:37 1994', Date.UTC(1994, 10, 6, 8, 49, 37)],
    ['Wed, 31 Dec 2025 23:59:59 GMT', Date.UTC(2025, 11, 31, 23, 59, 59)],
    ['Thu, 01 Jan 2026 00:00:00 GMT', Date.UTC(2026, 0, 1)],
    ['Thu, 29 Feb 2024 12:00:00 GMT', Date.UTC(2024, 1, 29, 12)],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ])('%s', (text, expected) => {
    expect(dateMs(text, IN_2026)).toBe(expected);
  });

  it.each([
    ['hour 23', 'Sun, 06 Nov 1994 23:00:00 GMT', Date.UTC(1994, 10, 6, 23)],
    ['minute 59', 'Sun, 06 Nov 1994 00:59:00 GMT', Date.UTC(1994, 10, 6, 0, 59)],
    ['a leap second', 'Sat, 31 Dec 2016 23:59:60 GMT', Date.UTC(2017, 0, 1)],
  ])('%s is a time', (_, text, expected) => {
    expect(dateMs(text, IN_2026)).toBe(expected);
  });

  it.each([
    ['hour 24', 'Sun, 06 Nov 1994 24:00:00 GMT'],
    ['minute 60', 'Sun, 06 Nov 1994 00:60:00 GMT'],
    ['second 61', 'Sun, 06 Nov 1994 00:00:61 GMT'],
    ['day 0', 'Sun, 00 Nov 1994 08:49:37 GMT'],
    ['30 February', 'Tue, 30 Feb 2024 12:00:00 GMT'],
    ['29 February of a short year', 'Sat, 29 Feb 2025 12:00:00 GMT'],
    ['another zone', 'Sun, 06 Nov 1994 08:49:37 CET'],
    ['something before it', 'x Sun, 06 Nov 1994 08:49:37 GMT'],
    ['something after it', 'Sun, 06 Nov 1994 08:49:37 GMT x'],
    ['something before the old grammar', 'x Sunday, 06-Nov-94 08:49:37 GMT'],
    ['something after the old grammar', 'Sunday, 06-Nov-94 08:49:37 GMT x'],
    ['something before asctime', 'x Sun Nov  6 08:49:37 1994'],
    ['something after asctime', 'Sun Nov  6 08:49:37 19945'],
    ['a month that is none', 'Sun, 06 Nox 1994 08:49:37 GMT'],
    ['a day that is none', 'Xun, 06 Nov 1994 08:49:37 GMT'],
    ['no text', ''],
    ['ten thousand characters', `Sun, 06 Nov 1994 08:49:37 GMT${' '.repeat(10_000)}`],
  ])('is not one with %s', (_, text) => {
    expect(dateMs(text, IN_2026)).toBeUndefined();
  });

  it.each([
    ['50 years ahead is still ahead', '76', IN_2026, 2076],
    ['51 years ahead is the past', '77', IN_2026, 1977],
    ['this year', '26', IN_2026, 2026],
    ['in 2080: 49 years ago', '31', IN_2080, 2031],
    ['in 2080: 50 years ago is 50 years ahead', '30', IN_2080, 2130],
    ['in 2080: next century', '05', IN_2080, 2105],
  ])('of two digits, %s', (_, year, now, expected) => {
    const at = dateMs(`Sunday, 06-Nov-${year} 08:49:37 GMT`, now);
    expect(new Date(at ?? NaN).getUTCFullYear()).toBe(expected);
  });
});
