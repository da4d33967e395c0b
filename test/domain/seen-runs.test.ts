import fc from 'fast-check';
import { seenOf, shortSeen } from '../../src/domain/poll-answers';

describe('the digests of a tick', () => {
  it('are told in runs where that is shorter', () => {
    expect(shortSeen(['a', 'a', 'a', 'b', 'a', 'a'])).toEqual({
      seen: [],
      seenRuns: [
        ['a', 3],
        ['b', 1],
        ['a', 2],
      ],
    });
    expect(shortSeen(['a', 'b', 'c'])).toEqual({ seen: ['a', 'b', 'c'] });
    expect(shortSeen(['a'])).toEqual({ seen: ['a'] });
  });

  it('come out as they went in, and never longer', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('', 'AbCdEf12', 'zyxwvuts')), (digests) => {
        const short = shortSeen(digests);
        expect(seenOf(short)).toEqual(digests);
        const plain = JSON.stringify(digests).length;
        expect(JSON.stringify(short.seenRuns ?? short.seen).length).toBeLessThanOrEqual(plain + 8);
      }),
    );
  });
});
