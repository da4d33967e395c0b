import { createHash } from 'node:crypto';
import { type ReportFacts } from '../../packages/report/src/report-options';
import { PAGE_ROWS, type CampaignPlan } from '../../src/domain/campaign/plan';
import {
  addCounts,
  addMoney,
  NO_MONEY,
  type PlanAddress,
  type ResultsRef,
  type RowCounts,
} from '../../src/domain/campaign/results';
import { type CampaignPage, type CampaignRow, type CampaignRowResult } from '../../src/domain/campaign/row';
import { moneyOfAttempts } from '../../src/domain/campaign/row-result';
import { type ArtifactRef } from '../../src/domain/request';
import { type ArtifactStore } from '../../src/stores/artifacts/artifact-store';

export const START = Date.parse('2026-11-21T10:00:00Z');

export const at = (seconds: number): string => new Date(START + seconds * 1_000).toISOString();

/** A row that was bought as a video of 4 s; everything may be changed. */
export function makeResult(row: number, changes: Partial<CampaignRowResult> = {}): CampaignRowResult {
  const generation = changes.generation ?? 0;
  const attempt = changes.attempt ?? 0;
  const taskId = changes.taskId === undefined ? `task_${row}_${attempt}` : changes.taskId;
  const key = changes.key ?? `shot-${row}`;
  const outcome = changes.outcome ?? 'completed';
  return {
    row,
    line: row + 2,
    key,
    content: createHash('sha256').update(key).digest('hex'),
    generation,
    page: Math.floor(row / PAGE_ROWS),
    index: row % PAGE_ROWS,
    operation: 'create_video',
    model: 'cine-1',
    outcome,
    attempt,
    taskId,
    account: 'default@01234567',
    artifacts: [],
    requested: { durationSeconds: 4, resolution: '720p', referenceMode: 'none' },
    warnings: [],
    ledger: [
      {
        attempt,
        creationKey: `trip/${key}/${attempt}`,
        taskId,
        outcome,
        estimate: 40_000,
        actual: outcome === 'completed' ? 35_000 : null,
        state:
          outcome === 'completed' ? 'settled' : outcome === 'still_running' ? 'reserved' : 'needs_review',
      },
    ],
    startedAt: at(row),
    createdAt: at(row + 1),
    finishedAt: at(row + 42),
    polls: 10,
    ...changes,
  };
}

/** A plan over all rows of a manifest: pages of prompts and their index. */
export async function putPlan(
  store: ArtifactStore,
  rows: number,
  prompt: (row: number) => string,
  options: { readonly generation?: number; readonly key?: (row: number) => string } = {},
): Promise<PlanAddress> {
  const { generation = 0, key = (row: number) => `shot-${row}` } = options;
  const pages: { sha256: string; rows: number }[] = [];
  for (let page = 0; page * PAGE_ROWS < rows; page += 1) {
    const first = page * PAGE_ROWS;
    const content: CampaignPage = {
      v: 1,
      page,
      rows: Array.from({ length: Math.min(PAGE_ROWS, rows - first) }, (_, index): CampaignRow => ({
        row: first + index,
        line: first + index + 2,
        key: key(first + index),
        content: '',
        call: { operation: 'create_video', request: { model: 'cine-1', prompt: prompt(first + index) } },
        estimate: 40_000,
        attempt: 0,
      })),
    };
    pages.push({ sha256: (await putJson(store, content)).sha256, rows: content.rows.length });
  }
  const index = await putJson(store, { v: 1, pages });
  return { generation, index: index.sha256 };
}

/** Results in segments of so many rows. */
export async function putSegments(
  store: ArtifactStore,
  results: readonly CampaignRowResult[],
  rowsOfOne = 500,
): Promise<string[]> {
  const segments: string[] = [];
  for (let first = 0; first < results.length; first += rowsOfOne) {
    const lines = results.slice(first, first + rowsOfOne).map((row) => `${JSON.stringify(row)}\n`);
    const ref = await store.putBuffer(Buffer.from(lines.join('')), { mediaType: 'application/jsonl' });
    segments.push(ref.sha256);
  }
  return segments;
}

export async function putIndex(store: ArtifactStore, segments: readonly string[]): Promise<string> {
  return (await putJson(store, { v: 1, segments })).sha256;
}

export function resultsRef(segments: readonly string[], changes: Partial<ResultsRef> = {}): ResultsRef {
  return {
    v: 1,
    generation: 0,
    indexes: [],
    segments,
    counts: {},
    money: NO_MONEY,
    currency: 'USD',
    ...changes,
  };
}

/** What a campaign says that came to these results. */
export function factsOf(
  results: readonly CampaignRowResult[],
  changes: Partial<ReportFacts> = {},
): ReportFacts {
  return {
    campaign: 'trip',
    state: 'running',
    asOf: at(3_600),
    startedAt: at(0),
    finishedAt: null,
    counts: results.reduce<RowCounts>((sum, { outcome }) => addCounts(sum, { [outcome]: 1 }), {}),
    remaining: 0,
    currency: 'USD',
    money: results.reduce((sum, { ledger }) => addMoney(sum, moneyOfAttempts(ledger)), NO_MONEY),
    budget: null,
    plan: null,
    notes: [],
    ...changes,
  };
}

export function planOf(
  address: PlanAddress,
  rows: number,
  changes: Partial<CampaignPlan> = {},
): CampaignPlan {
  return {
    v: 1,
    generation: address.generation,
    manifest: 'f'.repeat(64),
    rows,
    planned: rows,
    done: 0,
    left: 0,
    invalid: 0,
    issues: [],
    issuesFile: null,
    changed: { rows: 0, keys: [] },
    pages: Math.ceil(rows / PAGE_ROWS),
    index: {
      uri: `artifact:sha256/${address.index}`,
      mediaType: 'application/json',
      bytes: 0,
      sha256: address.index,
    },
    currency: 'USD',
    estimate: rows * 40_000,
    unpriced: 0,
    started: { rows: 0, estimate: 0, unpriced: 0 },
    booked: NO_MONEY,
    models: [{ model: 'cine-1', operation: 'create_video', rows, estimate: rows * 40_000, unpriced: 0 }],
    ...changes,
  };
}

function putJson(store: ArtifactStore, value: unknown): Promise<ArtifactRef> {
  return store.putBuffer(Buffer.from(JSON.stringify(value)), { mediaType: 'application/json' });
}
