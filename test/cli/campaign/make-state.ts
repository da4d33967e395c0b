import { type CampaignState } from '../../../src/domain/campaign/campaign-state';
import { type CampaignPlan } from '../../../src/domain/campaign/plan';
import { NO_MONEY } from '../../../src/domain/campaign/results';

export const NO_RESULTS: CampaignState['results'] = {
  v: 1,
  generation: 0,
  indexes: [],
  segments: [],
  counts: {},
  money: NO_MONEY,
  currency: null,
};

const artifact = { uri: 'artifact:sha256/0', mediaType: 'application/json', bytes: 2, sha256: '0' };

export function makePlan(own: Partial<CampaignPlan> = {}): CampaignPlan {
  return {
    v: 1,
    generation: 0,
    manifest: '0',
    rows: 10,
    planned: 10,
    done: 0,
    left: 0,
    invalid: 0,
    issues: [],
    issuesFile: null,
    changed: { rows: 0, keys: [] },
    pages: 1,
    index: artifact,
    currency: 'USD',
    estimate: 1_000_000,
    unpriced: 0,
    started: { rows: 0, estimate: 0, unpriced: 0 },
    booked: NO_MONEY,
    models: [{ model: 'cine-1', operation: 'create_video', rows: 10, estimate: 1_000_000, unpriced: 0 }],
    ...own,
  };
}

export function makeState(own: Partial<CampaignState> = {}): CampaignState {
  return {
    campaign: 'spring',
    phase: 'running',
    startedAt: '2026-01-01T00:00:00.000Z',
    plan: makePlan(),
    counts: {},
    remaining: 10,
    inFlight: 0,
    concurrency: 100,
    priority: null,
    currency: 'USD',
    money: NO_MONEY,
    budget: null,
    rowsPerMinute: null,
    etaAt: null,
    active: [],
    batches: [],
    results: NO_RESULTS,
    notes: [],
    ...own,
  };
}
