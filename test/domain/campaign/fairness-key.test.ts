import fc from 'fast-check';
import { fairnessKeyOf } from '../../../src/domain/campaign/fairness-key';

describe('the fairness key of a campaign', () => {
  it.each([
    ['spring', 'spring'],
    ['s'.repeat(64), 's'.repeat(64)],
    ['s'.repeat(65), 's'.repeat(64)],
    ['я'.repeat(40), 'я'.repeat(32)],
    ['春'.repeat(40), '春'.repeat(21)],
    [`x${'🎬'.repeat(20)}`, `x${'🎬'.repeat(15)}`],
  ])('of %s', (campaign, key) => {
    expect(fairnessKeyOf(campaign)).toBe(key);
  });

  it('never has more bytes than the server takes, and is the beginning of the id in whole characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (campaign) => {
        const key = fairnessKeyOf(campaign);
        expect(Buffer.byteLength(key)).toBeLessThanOrEqual(64);
        expect(campaign.startsWith(key)).toBe(true);
        expect(Buffer.from(key).toString()).toBe(key);
        // No more is left out than has to be.
        const [next = ''] = campaign.slice(key.length);
        if (next !== '') expect(Buffer.byteLength(key)).toBeGreaterThan(60);
      }),
    );
  });
});
