import {
  formatRetention,
  retentionSeconds,
} from '../../../packages/testing/src/temporal-server/server-arguments';

test.each([
  ['72h', 259_200],
  ['3d', 259_200],
  ['90m', 5_400],
  ['3600s', 3_600],
])('%s are %d seconds', (text, seconds) => expect(retentionSeconds(text)).toBe(seconds));

test.each(['', '72', 'h', '1.5h', '-3d', '59m', '72 h', '3w'])('"%s" is refused', (text) =>
  expect(() => retentionSeconds(text)).toThrow(RangeError),
);

test.each([
  [259_200, '72h'],
  [5_400, '90m'],
  [3_601, '3601s'],
])('%d seconds are shown as %s', (seconds, text) => expect(formatRetention(seconds)).toBe(text));
