import { type JudgedRow } from './judged-rows';
import { keyHash } from './key-hash';

/** Where a key stands in an order that depends on nothing but the key: 52 bits of its hash. */
export function sampleRank(key: string): number {
  const { high, low } = keyHash(key);
  return high * 2 ** 20 + (low >>> 12);
}

/** Rank of the last row of a sample of this size; 8 bytes per row that could be taken. */
export async function sampleThreshold(rows: AsyncIterable<JudgedRow>, size: number): Promise<number> {
  let ranks = new Float64Array(1024);
  let count = 0;
  for await (const judged of rows) {
    if (judged.kind !== 'taken' || judged.row.changed === true) continue;
    if (count === ranks.length) {
      const larger = new Float64Array(ranks.length * 2);
      larger.set(ranks);
      ranks = larger;
    }
    ranks[count++] = sampleRank(judged.row.key);
  }
  if (count <= size) return Infinity;
  return ranks.subarray(0, count).sort()[size - 1] ?? -1;
}
