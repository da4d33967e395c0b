import fc from 'fast-check';
import { fairnessKeyOf } from '../../../src/domain/campaign/concurrency';

const SUFFIX = /~[0-9a-f]{16}$/;

describe('the fairness key of a campaign', () => {
  it.each([['spring'], ['s'.repeat(64)], ['я'.repeat(32)], [`${'🎬'.repeat(16)}`]])(
    'of %s is its id',
    (campaign) => {
      expect(fairnessKeyOf(campaign)).toBe(campaign);
    },
  );

  it.each([
    ['s'.repeat(65), 's'.repeat(47)],
    ['я'.repeat(40), 'я'.repeat(23)],
    ['春'.repeat(40), '春'.repeat(15)],
    [`x${'🎬'.repeat(20)}`, `x${'🎬'.repeat(11)}`],
  ])('of %s begins like its id', (campaign, beginning) => {
    expect(fairnessKeyOf(campaign).replace(SUFFIX, '')).toBe(beginning);
  });

  it('tells long ids apart that begin alike', () => {
    const ids = Array.from({ length: 1000 }, (_, index) => `${'spring-'.repeat(10)}${index}`);
    expect(new Set(ids.map(fairnessKeyOf)).size).toBe(ids.length);
  });

  it('never has more bytes than the server takes, in whole characters, and as many as fit', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (campaign) => {
        const key = fairnessKeyOf(campaign);
        expect(Buffer.byteLength(key)).toBeLessThanOrEqual(64);
        expect(Buffer.from(key).toString()).toBe(key);
        if (key === campaign) return;
        expect(campaign.startsWith(key.replace(SUFFIX, ''))).toBe(true);
        expect(Buffer.byteLength(key)).toBeGreaterThan(60);
      }),
    );
  });
});
