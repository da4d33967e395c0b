import fc from 'fast-check';
import { accountName, apiUrl, normaliseBaseUrl } from '../../src/service/endpoint';

describe('the base address', () => {
  it.each([
    ['https://h.example', 'https://h.example'],
    ['HTTPS://H.Example:443/', 'https://h.example'],
    ['http://h.example:80//', 'http://h.example'],
    ['http://h.example:8080', 'http://h.example:8080'],
    ['https://h.example/v1', 'https://h.example'],
    ['https://h.example/v1//', 'https://h.example'],
    ['https://h.example/v1/v1', 'https://h.example/v1'],
    ['https://h.example/api/v1/', 'https://h.example/api'],
    ['https://h.example/Api/x', 'https://h.example/Api/x'],
    ['https://h.example/apiv1', 'https://h.example/apiv1'],
    ['https://h.example/v10', 'https://h.example/v10'],
    ['https://h.example/v1/x', 'https://h.example/v1/x'],
    [' https://h.example ', 'https://h.example'],
    ['\ufeffhttps://h.example\u00a0', 'https://h.example'],
    ['http://[::1]:3000/v1', 'http://[::1]:3000'],
  ])('[C0.2] [C9.1] %j is %j', (text, expected) => {
    expect(normaliseBaseUrl(text)).toBe(expected);
  });

  it.each([
    ['', 'is not a URL. Use the format https://host'],
    ['h.example', 'is not a URL'],
    ['ftp://h', 'must start with https:// or http://'],
    ['https://u:secret@h', 'must not contain a user name or a password'],
    ['https://secret@h', 'must not contain a user name or a password'],
    ['https://:secret@h', 'must not contain a user name or a password'],
    ['https://h?a=secret', 'must not contain a query or a fragment'],
    ['https://h#secret', 'must not contain a query or a fragment'],
    ['https://h?', 'must not contain a query or a fragment'],
  ])('%j is refused without being repeated', (text, why) => {
    expect(() => normaliseBaseUrl(text)).toThrow(Error);
    expect(() => normaliseBaseUrl(text)).toThrow(why);
    expect(() => normaliseBaseUrl(text)).not.toThrow(/secret/);
  });

  it('[C9.1] every path has /v1 exactly once, whatever was pasted, and normalising again changes nothing', () => {
    const path = fc
      .array(fc.constantFrom('a', 'B', 'x-1', 'v2'), { maxLength: 3 })
      .map((parts) => parts.join('/'));
    const tail = fc.constantFrom('', '/', '//', '/v1', '/v1/', '/V1');
    fc.assert(
      fc.property(path, tail, (prefix, end) => {
        const base = normaliseBaseUrl(`https://h.example/${prefix}${end}`);
        expect(normaliseBaseUrl(base)).toBe(base);
        const expected = prefix === '' ? '/v1/videos' : `/${prefix}/v1/videos`;
        expect(apiUrl(base, 'videos').pathname).toBe(expected);
      }),
    );
  });

  it('an account is the same for every spelling of one address', () => {
    const name = accountName('default', 'https://h.example');
    expect(name).toMatch(/^default@[0-9a-f]{8}$/);
    expect(accountName('default', 'https://H.example:443/v1/')).toBe(name);
    expect(accountName('default', 'https://h.example/other')).not.toBe(name);
  });

  it('a segment stays one segment whatever it holds', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (id) => {
        fc.pre(id !== '.' && id !== '..');
        const parts = apiUrl('https://h.example/p', 'videos', id, 'content').pathname.split('/');
        expect(parts.slice(0, 4)).toEqual(['', 'p', 'v1', 'videos']);
        expect(decodeURIComponent(parts[4] ?? '')).toBe(id);
        expect(parts.slice(5)).toEqual(['content']);
      }),
    );
    for (const id of ['', '.', '..'])
      expect(() => apiUrl('https://h', 'videos', id)).toThrow(
        new Error('A path segment must not be empty, "." or "..".'),
      );
    expect(() => apiUrl('https://h', 'videos', '\ud800')).toThrow(
      new Error('A path segment must be well-formed Unicode.'),
    );
  });
});
