import { type CampaignRow } from '../../../src/domain/campaign/row';
import { memoryStore } from '../../manifest/memory-store';

const JSON_TYPE = { mediaType: 'application/json' };

/** A planned row of a video of 4 s. */
export function plannedRow(number: number, own: Partial<CampaignRow> = {}): CampaignRow {
  return {
    row: number,
    line: number + 2,
    key: `r${number}`,
    content: 'c'.repeat(64),
    call: {
      operation: 'create_video',
      request: { model: 'cine-1', prompt: 'canary', durationSeconds: 4, resolution: '720p' },
    },
    estimate: 200_000,
    attempt: 0,
    ...own,
  };
}

/** Pages of a plan in a store of their own, and the hash of the plan's index. */
export async function storedPages(pages: readonly (readonly CampaignRow[])[]) {
  const store = memoryStore();
  const entries: { sha256: string; rows: number }[] = [];
  for (const [page, rows] of pages.entries()) {
    const { sha256 } = await store.putBuffer(Buffer.from(JSON.stringify({ v: 1, page, rows })), JSON_TYPE);
    entries.push({ sha256, rows: rows.length });
  }
  const index = await store.putBuffer(Buffer.from(JSON.stringify({ v: 1, pages: entries })), JSON_TYPE);
  return { store, index: index.sha256 };
}
