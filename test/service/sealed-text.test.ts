import fc from 'fast-check';
import { openSealed, sealText } from '../../src/service/sealed-text';

const LINKS = '["https://media.example/generated/1.png?signature=zz"]';

describe('a text that is sealed with a key', () => {
  it('[C5.4b] shows nothing of itself, is another every time, and opens with that key alone', async () => {
    const sealed = await sealText(LINKS, 'Bearer one');
    expect(Buffer.from(sealed, 'base64').toString('latin1')).not.toMatch(/media|generated|signature/);
    expect(await sealText(LINKS, 'Bearer one')).not.toBe(sealed);
    expect(await openSealed(sealed, 'Bearer one')).toBe(LINKS);
    expect(await openSealed(sealed, 'Bearer two')).toBeUndefined();
  });

  it('that was changed or is none opens to nothing', async () => {
    const bytes = Buffer.from(await sealText(LINKS, 'Bearer one'), 'base64');
    for (const place of [0, 20, 30, bytes.length - 1]) {
      const changed = Buffer.from(bytes);
      changed[place] = changed[place]! ^ 1;
      expect(await openSealed(changed.toString('base64'), 'Bearer one')).toBeUndefined();
    }
    await fc.assert(
      fc.asyncProperty(fc.string({ maxLength: 80 }), async (text) => {
        expect(await openSealed(text, 'Bearer one')).toBeUndefined();
      }),
      { numRuns: 20 },
    );
  });
});
