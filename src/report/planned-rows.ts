import { ArtifactError, type ArtifactStore } from '../artifacts/artifact-store';
import { type PlanIndex } from '../domain/campaign/plan';
import { type CampaignPage, type CampaignRow, type CampaignRowResult } from '../domain/campaign/row';
import { type PlanAddress } from '../domain/campaign/results';
import { readJsonArtifact } from './read-results';

/** Pages of plans in memory at a time. */
const OPEN_PAGES = 16;

/** What rows asked for: it stands in the pages of their plan and nowhere in the results. */
export class PlannedRows {
  readonly #indexes = new Map<number, PlanIndex | null>();
  readonly #pages = new Map<string, CampaignPage | null>();

  constructor(
    private readonly store: ArtifactStore,
    private readonly plans: readonly PlanAddress[],
  ) {}

  /** Undefined when its plan is not known or not in the store any more. */
  async find({ generation, page, index, key }: CampaignRowResult): Promise<CampaignRow | undefined> {
    const sha256 = (await this.#index(generation))?.pages[page]?.sha256;
    if (sha256 === undefined) return undefined;
    const rows = (await this.#page(sha256))?.rows ?? [];
    return rows[index]?.key === key ? rows[index] : rows.find((row) => row.key === key);
  }

  async #index(generation: number): Promise<PlanIndex | null> {
    const known = this.#indexes.get(generation);
    if (known !== undefined) return known;
    const address = this.plans.find((plan) => plan.generation === generation);
    const index = address === undefined ? null : await this.#read<PlanIndex>(address.index);
    this.#indexes.set(generation, index);
    return index;
  }

  async #page(sha256: string): Promise<CampaignPage | null> {
    const known = this.#pages.get(sha256);
    if (known !== undefined) return known;
    const oldest = this.#pages.keys().next();
    if (this.#pages.size >= OPEN_PAGES && oldest.done !== true) this.#pages.delete(oldest.value);
    const page = await this.#read<CampaignPage>(sha256);
    this.#pages.set(sha256, page);
    return page;
  }

  async #read<T>(sha256: string): Promise<T | null> {
    try {
      return await readJsonArtifact<T>(this.store, sha256);
    } catch (error) {
      if (error instanceof ArtifactError && error.code === 'not_found') return null;
      throw error;
    }
  }
}
