import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createCreateVideos } from '../../../src/activities/campaign/create-rows';
import { type PageReader } from '../../../src/activities/campaign/open-page';
import { createCreateVideo } from '../../../src/activities/create-video';
import { type PaidDeps } from '../../../src/activities/paid-context';
import { RefusalGate } from '../../../src/activities/refusal-gate';
import {
  type CreateVideosInput,
  type CreateVideosResult,
} from '../../../src/domain/campaign/campaign-activities';
import { type CampaignRow } from '../../../src/domain/campaign/row';
import { type CreateJournal } from '../../../src/domain/journal';
import { type CreateVideoAnswer } from '../../../src/domain/paid-call';
import { type PaidRequest, type VideoRequest } from '../../../src/domain/request';
import { createMediaClient } from '../../../src/service/create-media-client';
import { type MediaClient } from '../../../src/service/media-client';
import { createFileJournal } from '../../../src/stores/journal/file-journal';
import { loopback, type Loopback, type SeenRequest } from '../../service/loopback-service';
import { paidDeps } from '../paid-deps';

type Answer = Parameters<typeof loopback>[0];

export const PAGE = { index: 'a'.repeat(64), page: 0 };

/** Both create activities over one journal and one service on loopback. */
export class CreateHarness {
  readonly heartbeats: unknown[] = [];
  readonly environment = new MockActivityEnvironment({
    attempt: 1,
    startToCloseTimeoutMs: 70_000,
    heartbeatTimeoutMs: 10_000,
  });
  rows: readonly CampaignRow[] = [];
  /** Fails instead of showing the page. */
  pageFails = false;
  models: PaidDeps['models'];
  readonly pages: PageReader = {
    page: () => {
      if (this.pageFails) return Promise.reject(new Error('the store does not answer'));
      return Promise.resolve({ v: 1, page: 0, rows: this.rows });
    },
  };

  private constructor(
    private readonly folder: string,
    readonly service: Loopback,
    readonly client: MediaClient,
    readonly deps: PaidDeps,
    readonly journal: CreateJournal,
  ) {
    this.models = deps.models;
    this.environment.on('heartbeat', (details: unknown) => this.heartbeats.push(details));
  }

  static async open(answer: Answer): Promise<CreateHarness> {
    const folder = await mkdtemp(join(tmpdir(), 'temporal-media-creates-'));
    const service = await loopback(answer);
    const client = createMediaClient({ baseUrl: service.origin, apiKey: () => 'key' });
    const journal = createFileJournal({ root: join(folder, 'journal') });
    const deps: PaidDeps = paidDeps(folder, journal, client);
    return new CreateHarness(folder, service, client, deps, journal);
  }

  async close(): Promise<void> {
    await this.client.close();
    await this.service.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** As the only call of its worker: no refusal of another holds it back. */
  single(creationKey: string, request: VideoRequest): Promise<CreateVideoAnswer> {
    const alone = createCreateVideo({ ...this.deps, gate: new RefusalGate() });
    return this.environment.run(alone, { creationKey, request });
  }

  /** All rows of the page in one activity; keys are given by place. */
  async batch(
    key: (index: number) => string,
    rows = this.rows,
    deps: Partial<PaidDeps> = {},
    asked: { readonly recordedOnly?: true } = {},
  ): Promise<readonly CreateVideoAnswer[]> {
    const create = createCreateVideos({ ...this.deps, models: this.models, ...deps }, this.pages);
    const batch = rows.map((row) => ({
      page: PAGE,
      index: row.row,
      creationKey: key(row.row),
      ...asked,
    }));
    const { answers } = await this.environment.run<
      [CreateVideosInput],
      CreateVideosResult,
      (input: CreateVideosInput) => Promise<CreateVideosResult>
    >(create, { rows: batch });
    return answers;
  }
}

export function rowOf(row: number, call: PaidRequest, own: Partial<CampaignRow> = {}): CampaignRow {
  return {
    row,
    line: row + 1,
    key: `row-${row}`,
    content: 'c'.repeat(64),
    call,
    estimate: null,
    attempt: 0,
    ...own,
  };
}

export const video = (prompt: string): PaidRequest => ({
  operation: 'create_video',
  request: { model: 'm', prompt },
});

export const promptOf = (request: SeenRequest): string =>
  (JSON.parse(request.body.toString()) as { prompt: string }).prompt;
