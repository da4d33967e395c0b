import { promptHash } from '../../packages/sandbox/src';
import { type CampaignResult } from '../../src/domain/campaign/campaign-state';
import { sumOf } from '../../src/domain/campaign/results';
import { type ResultsRef } from '../../src/domain/campaign/results';
import { resultsOf, type Row } from './campaign';
import { eventually } from './eventually';
import { type MediaStack } from './media-stack';

/** Micro-units of one row of {@link videos}. */
export const PRICE = 100_000;

export const videos = (count: number, name: string, directives = ''): Row[] =>
  Array.from({ length: count }, (_, n) => ({
    id: `${name}-${n}`,
    model: 'cine-1',
    prompt: `${directives}${name} ${n}.`,
    duration: 2,
  }));

/** Paid calls that the service accepted, by the id of the row. */
export async function accepted(media: MediaStack, rows: readonly Row[]): Promise<Map<string, number>> {
  const { acceptedByPromptHash } = await media.sandbox.admin.counters();
  const counts = rows.map(
    ({ id, prompt }) => [id as string, acceptedByPromptHash[promptHash(prompt as string)] ?? 0] as const,
  );
  return new Map(counts.filter(([, count]) => count > 0));
}

/** Paid calls that may cost money: a service may bill its validation of a request that it refused, too (C7.10). */
async function mayCost(media: MediaStack, rows: readonly Row[]): Promise<Map<string, number>> {
  const ids = new Map(rows.map(({ prompt, id }) => [prompt, id as string]));
  const counts = new Map<string, number>();
  for (const { accepted: taken, status, json } of await media.sandbox.admin.requests({
    operation: 'create',
  })) {
    const id = ids.get((json as { prompt?: string }).prompt);
    if ((taken || status === 400) && id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
}

export const total = (counts: ReadonlyMap<string, number>) =>
  [...counts.values()].reduce((sum, n) => sum + n, 0);

/** Every row has one result, and counter, lines and totals agree. */
export async function expectExact(
  media: MediaStack,
  rows: readonly Row[],
  { results, counts, money }: Pick<CampaignResult, 'counts' | 'money'> & { readonly results: ResultsRef },
): Promise<void> {
  const lines = await resultsOf(media, results);
  expect([...lines.keys()].sort()).toEqual(rows.map(({ id }) => id as string).sort());
  const charged = await mayCost(media, rows);
  for (const [id, line] of lines) {
    const paid = line.ledger.filter(({ state }) => state !== 'none');
    expect([id, paid.length]).toEqual([id, charged.get(id) ?? 0]);
    const tasks = paid.flatMap(({ taskId }) => taskId ?? []);
    expect([id, new Set(tasks).size]).toEqual([id, tasks.length]);
  }
  expect(Object.values(counts).reduce((sum, n) => sum + n, 0)).toBe(rows.length);
  expect(sumOf(money)).toBe(total(charged) * PRICE);
}

export async function bought(
  media: MediaStack,
  rows: readonly Row[],
  count: number,
  limitMs = 60_000,
): Promise<void> {
  await eventually(`${count} creates`, async () => total(await accepted(media, rows)) >= count, limitMs);
}
