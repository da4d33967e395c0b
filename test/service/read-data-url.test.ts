import fc from 'fast-check';
import { readBase64, readDataUrl } from '../../src/service/read-data-url';

describe('bytes in texts', () => {
  it('[C2.5.4] Base64 in both alphabets, with blanks and without padding, gives its bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1 }), (data) => {
        const bytes = Buffer.from(data);
        const text = bytes.toString('base64');
        for (const form of [
          text,
          text.replace(/=+$/, ''),
          bytes.toString('base64url'),
          text.replace(/(.{3})/g, '$1\n '),
        ])
          expect(readBase64(form, 1000)?.equals(bytes)).toBe(true);
        expect(readDataUrl(`data:image/png;base64,${text}`, 1000)?.equals(bytes)).toBe(true);
        expect(readDataUrl(`data:;base64,${encodeURIComponent(text)}`, 1000)?.equals(bytes)).toBe(true);
        expect(readBase64(text, bytes.length)?.equals(bytes)).toBe(true);
        expect(readBase64(text, bytes.length - 1)).toBeUndefined();
      }),
    );
  });

  it.each(['', ' ', 'A', 'AAAAA', 'AA=A', '====', 'A%3D', '%%%', 'Ä', 'AAA٤', '{"error":1}'])(
    '%j is no Base64',
    (text) => {
      expect(readBase64(text, 1000)).toBeUndefined();
    },
  );

  it('a data URL may be plain text, and nothing else is one', () => {
    expect(readDataUrl('data:,a%20b', 100)?.toString()).toBe('a b');
    expect(readDataUrl('DATA:text/plain;charset=utf-8,x', 100)?.toString()).toBe('x');
    expect(readDataUrl('data:,abc', 2)).toBeUndefined();
    for (const text of [
      '',
      'data:',
      'data:,',
      'https://h/x',
      'data:image/png;base64',
      'data:a b,x',
      'data:image/png;base64,',
    ])
      expect(readDataUrl(text, 100)).toBeUndefined();
  });
});
