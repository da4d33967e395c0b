import { type ArtifactStore } from '../../artifacts/artifact-store';
import { type PageAddress } from '../../domain/campaign/activities';
import { type PlanIndex } from '../../domain/campaign/plan';
import { type CampaignPage } from '../../domain/campaign/row';
import { LeastRecent } from '../../manifest/least-recent';
import { readJson } from '../../manifest/read-json';

export interface PageReader {
  /** Rejects with an `ArtifactError` when the store cannot read it, with a `RangeError` for a page that its plan does not have. */
  page(address: PageAddress): Promise<CampaignPage>;
}

/** Characters of pages that stay in memory, all together: some hundred pages of short prompts, dozens of long ones. */
const KEPT_CHARACTERS = 8 * 1024 * 1024;
/** Indexes of plans that stay in memory; one of a million rows takes about 1.5 MB. */
const KEPT_INDEXES = 8;

/** Pages of plans, with the ones of late in memory: a page is asked for once per batch, not once. */
export function createPageReader(artifacts: Pick<ArtifactStore, 'read'>): PageReader {
  const indexes = new LeastRecent<PlanIndex>(KEPT_INDEXES, () => 1);
  const pages = new LeastRecent<{ readonly page: CampaignPage; readonly size: number }>(
    KEPT_CHARACTERS,
    ({ size }) => size,
  );
  return {
    async page({ index, page }) {
      const plan = await indexes.get(index, () => readJson<PlanIndex>(artifacts, index));
      const entry = plan.pages[page];
      if (entry === undefined) throw new RangeError(`The plan has no page ${page}.`);
      const found = await pages.get(entry.sha256, async () => {
        const read = await readJson<CampaignPage>(artifacts, entry.sha256);
        return { page: read, size: JSON.stringify(read).length };
      });
      return found.page;
    },
  };
}
