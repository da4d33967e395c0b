import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CampaignPlan, type PlanIndex } from '../../src/domain/campaign/plan';
import { NO_MONEY, type ResultsRef } from '../../src/domain/campaign/results';
import { type CampaignPage, type CampaignRow, type CampaignRowResult } from '../../src/domain/campaign/row';
import { planManifest, type PlanManifestOptions } from '../../src/manifest/plan-manifest';
import { readJson } from '../../src/manifest/result-lines';
import { type ArtifactStore } from '../../src/stores/artifacts/artifact-store';
import { FileArtifactStore } from '../../src/stores/artifacts/file-store';
import { modelSource } from './models';

export const CAMPAIGN = 'spring';

export type PlanStore = Pick<ArtifactStore, 'read' | 'has' | 'putBuffer' | 'putStream'>;

/** Plans over a real store in a folder of its own. */
export class PlanHarness {
  private constructor(
    private readonly root: string,
    readonly store: PlanStore,
  ) {}

  /** @param store for tests of many plans, that need no disk */
  static async open(store?: PlanStore): Promise<PlanHarness> {
    const root = await mkdtemp(join(tmpdir(), 'temporal-media-manifest-'));
    return new PlanHarness(root, store ?? new FileArtifactStore(root));
  }

  async close(): Promise<void> {
    await rm(this.root, { recursive: true, force: true });
  }

  /** Changes a byte of an artifact on the disk. */
  async damage(sha256: string): Promise<void> {
    const path = join(this.root, 'sha256', sha256.slice(0, 2), sha256);
    const bytes = await readFile(path);
    await chmod(path, 0o600);
    await writeFile(path, Buffer.concat([bytes.subarray(0, -2), Buffer.from(' \n')]));
  }

  async plan(
    manifest: string | Uint8Array | AsyncIterable<Uint8Array>,
    options: Partial<PlanManifestOptions> = {},
  ): Promise<CampaignPlan> {
    const bytes = typeof manifest === 'string' ? Buffer.from(manifest) : manifest;
    return planManifest({
      campaign: CAMPAIGN,
      open: () => (bytes instanceof Uint8Array ? once(bytes) : bytes),
      models: modelSource(),
      store: this.store,
      sink: this.store,
      select: { rows: 'missing' },
      onInvalid: 'fail',
      rebuyChanged: false,
      generation: 0,
      ...options,
    });
  }

  /** All rows of the pages of a plan. */
  async rows(plan: CampaignPlan): Promise<CampaignRow[]> {
    const { pages } = await readJson<PlanIndex>(this.store, plan.index.sha256);
    const rows: CampaignRow[] = [];
    for (const { sha256 } of pages) rows.push(...(await readJson<CampaignPage>(this.store, sha256)).rows);
    return rows;
  }

  async planned(manifest: string, options: Partial<PlanManifestOptions> = {}): Promise<CampaignRow[]> {
    const plan = await this.plan(manifest, options);
    if (plan.refused !== undefined) throw new Error(JSON.stringify([plan.refused, plan.issues]));
    return this.rows(plan);
  }

  /** Results as batches write them: one segment per list. */
  async results(...segments: readonly (readonly CampaignRowResult[])[]): Promise<ResultsRef> {
    const hashes: string[] = [];
    for (const rows of segments) {
      const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
      const { sha256 } = await this.store.putBuffer(Buffer.from(text), { mediaType: 'application/jsonl' });
      hashes.push(sha256);
    }
    return {
      v: 1,
      generation: 0,
      indexes: [],
      segments: hashes,
      counts: {},
      money: NO_MONEY,
      currency: 'USD',
    };
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  // In pieces that cut characters, quotes and line ends apart.
  for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7);
}
