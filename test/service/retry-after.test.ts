import fc from 'fast-check';
import { asksToRetry, parseRetryAfter } from '../../src/service/reply-headers';

const NOW = Date.UTC(2026, 10, 21, 12, 0, 0);
const after = (value: string | string[]): number | undefined =>
  parseRetryAfter({ 'retry-after': value }, NOW);

describe('Retry-After', () => {
  it.each([
    ['0', 0],
    ['7', 7000],
    [' 7 ', 7000],
    ['1.5', 1500],
    ['0.0001', 1],
    ['86400', 86_400_000],
    ['2, 5', 5000],
    ['15 ,2', 15_000],
    ['2,15', 15_000],
    ['1,  2.25', 2250],
    ['Sat, 21 Nov 2026 12:01:00 GMT', 60_000],
    ['Saturday, 21-Nov-26 12:01:00 GMT', 60_000],
    ['Sat Nov 21 12:01:00 2026', 60_000],
    ['Tue Dec  1 12:00:00 2026', 10 * 86_400_000],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 0],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 0],
    ['Fri, 21 Nov 2036 12:00:00 GMT', 3653 * 86_400_000],
  ])('[C8.7] %j is %i ms', (value, expected) => {
    expect(after(value)).toBe(expected);
  });

  it.each([
    '',
    ' ',
    '-5',
    '+5',
    '1e99',
    '0x10',
    '٣',
    'soon',
    'NaN',
    'Infinity',
    '5 seconds',
    '1;2',
    '2026-11-21T12:01:00Z',
    'Sat, 31 Feb 2026 12:00:00 GMT',
    'Sat, 21 Nov 2026 25:00:00 GMT',
    'Sat, 21 Nov 2026 12:01:00 CET',
    'x'.repeat(10_000),
    `${' '.repeat(10_000)}x`,
  ])('%j is no Retry-After', (value) => {
    expect(after(value)).toBeUndefined();
  });

  it('[C8.7] a huge value stays huge, and the moment stays one that a Date can hold', () => {
    for (const value of ['99999999999', '9'.repeat(20), '9'.repeat(10_000)]) {
      const wait = after(value) ?? 0;
      expect(wait).toBeGreaterThan(99_999_999_000);
      expect(Number.isNaN(new Date(NOW + wait).getTime())).toBe(false);
    }
    expect(after('31536000000')).toBe(31_536_000_000_000);
  });

  it('[C8.7] a repeated header and several names: the longest counts, whatever else is nonsense', () => {
    expect(after(['3', '10', 'soon'])).toBe(10_000);
    expect(parseRetryAfter({ 'retry-after': '1', 'retry-after-ms': '2500' }, NOW)).toBe(2500);
    expect(parseRetryAfter({ 'x-provider-retry-after': '4' }, NOW)).toBe(4000);
    expect(parseRetryAfter({ 'X-MS-Retry-After-Ms': '4' }, NOW)).toBe(4);
    expect(parseRetryAfter({ 'x-retry-after-seconds': '4' }, NOW)).toBe(4000);
    for (const name of ['x-retry-afterwards', 'x_retry-after', `${'x'.repeat(61)}-retry-after`])
      expect(parseRetryAfter({ [name]: '4', 'retry-after': undefined }, NOW)).toBeUndefined();
  });

  it('[C8.7] any whole number of seconds is taken whole', () => {
    fc.assert(fc.property(fc.nat(2_000_000_000), (seconds) => after(String(seconds)) === seconds * 1000));
  });

  it('[C8.7] any date is taken to the second, in all three grammars', () => {
    const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 40 * 365 * 86_400 }), (seconds) => {
        const at = new Date(NOW + seconds * 1000);
        const imf = at.toUTCString();
        const [, day = '', month = '', year = '', time = ''] = imf.split(' ');
        const asctime = `${days[at.getUTCDay()]} ${month} ${String(Number(day)).padStart(2)} ${time} ${year}`;
        return after(imf) === seconds * 1000 && after(asctime) === seconds * 1000;
      }),
    );
  });

  it.each([
    ['an hour ahead', 3_600_000],
    ['an hour behind', -3_600_000],
    ['ten years behind', -315_360_000_000],
  ])('[C8.7] a date is read against the clock of the service, which is %s of ours', (_what, apart) => {
    const theirs = NOW + apart;
    const date = new Date(theirs).toUTCString();
    const at = new Date(theirs + 90_000);
    const [, day = '', month = '', year = '', time = ''] = at.toUTCString().split(' ');
    const names = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
    const name = names[at.getUTCDay()] ?? '';
    for (const text of [
      at.toUTCString(),
      `${name}, ${day}-${month}-${year.slice(2)} ${time} GMT`,
      `${name.slice(0, 3)} ${month} ${String(Number(day)).padStart(2)} ${time} ${year}`,
    ]) {
      expect(parseRetryAfter({ date, 'retry-after': text }, NOW)).toBe(90_000);
      expect(parseRetryAfter({ Date: [date, 'nonsense'], 'Retry-After': [text] }, NOW)).toBe(90_000);
    }
    expect(
      parseRetryAfter({ date: 'nonsense', 'retry-after': new Date(NOW + 5000).toUTCString() }, NOW),
    ).toBe(5000);
    expect(parseRetryAfter({ date, 'retry-after': '7' }, NOW)).toBe(7000);
  });

  it('asks for another try also where nobody can tell when; an empty one asks for nothing', () => {
    for (const value of ['7', 'soon', '-1', '2026-11-21T12:01:00Z', 'Sat, 21 Nov 2026 25:00:00 GMT'])
      expect(asksToRetry({ 'retry-after': value })).toBe(true);
    for (const headers of [{}, { 'retry-after': '' }, { 'retry-after': ' ' }, { date: 'soon' }])
      expect(asksToRetry(headers)).toBe(false);
  });

  it('never throws and never gives anything but a safe wait', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom('retry-after', 'retry-after-ms', 'x-a-retry-after'),
          fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.double().map(String)),
        ),
        (headers) => {
          const wait = parseRetryAfter(headers, NOW);
          return wait === undefined || (Number.isInteger(wait) && wait >= 0 && NOW + wait <= 8.64e15);
        },
      ),
    );
  });
});
