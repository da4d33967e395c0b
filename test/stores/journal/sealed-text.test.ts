import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { openSealed, sealText } from '../../../src/activities/image-results';

const LINKS = '["https://media.example/generated/1.png?signature=zz"]';

describe('a text that is sealed with a key', () => {
  const [one, two] = [randomBytes(32), randomBytes(32)];

  it('[C5.4b] shows nothing of itself, is another every time, and opens with that key alone', () => {
    const sealed = sealText(LINKS, one);
    expect(Buffer.from(sealed, 'base64').toString('latin1')).not.toMatch(/media|generated|signature/);
    expect(sealText(LINKS, one)).not.toBe(sealed);
    expect(openSealed(sealed, one)).toBe(LINKS);
    expect(openSealed(sealed, two)).toBeUndefined();
  });

  it('that was changed or is none opens to nothing', () => {
    const bytes = Buffer.from(sealText(LINKS, one), 'base64');
    for (const place of [0, 15, 30, bytes.length - 1]) {
      const changed = Buffer.from(bytes);
      changed[place] = changed[place]! ^ 1;
      expect(openSealed(changed.toString('base64'), one)).toBeUndefined();
    }
    // Whoever may write may not try a short tag until one fits.
    const empty = Buffer.from(sealText('', one), 'base64');
    expect(openSealed(empty.toString('base64'), one)).toBe('');
    for (let length = 0; length < empty.length; length += 1)
      expect(openSealed(empty.subarray(0, length).toString('base64'), one)).toBeUndefined();
    fc.assert(
      fc.property(fc.string({ maxLength: 80 }), (text) => {
        expect(openSealed(text, one)).toBeUndefined();
      }),
    );
  });
});
