import { type ArtifactRef } from '../../domain/media';
import { type RowCounts } from '../../domain/campaign/results';
import { readResults } from '../../manifest/results';
import { type DemoCase, type DemoResult, type DemoStage } from './demo-case';

const ROWS = 4;
/** Micro-units of one row: 2 s of `cine-1` at 480p by the price list of the sandbox. */
const PRICE = 100_000;
const usd = (rows: number) => ({ microUnits: rows * PRICE, currency: 'USD' });

/** A campaign whose budget ends before its rows do, and what the same id does with more of it. */
export const campaignCase: DemoCase = {
  name: 'campaign',
  why: 'a budget for three of four rows is never exceeded, and more of it buys only the row that is missing',
  expected: '3 completed and 1 skipped_budget, then 4 completed',
  paid: { creates: ROWS, images: 0 },
  run: campaign,
};

async function campaign({ media, store, id, say }: DemoStage): Promise<DemoResult> {
  const rows = Array.from({ length: ROWS }, (_unused, n) => ({
    id: `kite-${n + 1}`,
    model: 'cine-1',
    prompt: `kite number ${n + 1} over the sea [run:2s]`,
    duration: 2,
    resolution: '480p',
  }));
  const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  const artifact = await store.putBuffer(Buffer.from(text), { mediaType: 'application/jsonl' });
  const name = id('campaign');
  const input = { manifest: { source: { artifact } }, budget: usd(ROWS - 1) };
  const first = await (await media.startCampaign(input, { id: name })).result();
  say(`campaign: the budget is spent with ${words(first.counts)}; going on with more`);
  const second = await (await media.resumeCampaign(name, { budget: usd(ROWS) })).started.result();
  const artifacts: ArtifactRef[] = [];
  for await (const row of readResults(store, second.results)) artifacts.push(...row.artifacts);
  const { settled, reserved } = second.money;
  return {
    seen: `${words(first.counts)}, then ${words(second.counts)}`,
    notes: [`on its books: ${(settled + reserved) / 1e6} USD`],
    artifacts,
  };
}

function words(counts: RowCounts): string {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([outcome, count]) => `${count} ${outcome}`)
    .join(' and ');
}
