import { looksLikeLocalPath } from '../../src/domain/validate-request';
import { readBase64 } from '../../src/service/read-data-url';

it('megabytes of Base64 are read without a pattern over all of them', () => {
  const bytes = Buffer.alloc(48_000_000, 7);
  expect(readBase64(bytes.toString('base64'), 64_000_000)?.length).toBe(bytes.length);
  expect(looksLikeLocalPath(`/9j/${'A'.repeat(20_000_000)}`)).toBe(false);
});

it.each(['AAA!AAAA', 'AA=AAAAA', 'AAAAA', '=', 'AAAA====', 'é'.repeat(8)])('%j is no Base64', (text) => {
  expect(readBase64(text, 1000)).toBeUndefined();
});
