import { MockActivityEnvironment } from '@temporalio/testing';
import { createCountResults } from '../../../src/activities/campaign/count-results';
import { createRecordRows } from '../../../src/activities/campaign/record-rows';
import { NO_MONEY, type ResultsRef } from '../../../src/domain/campaign/results';
import { type CampaignRowResult, type LedgerLine, type RowOutcome } from '../../../src/domain/campaign/row';
import { memoryStore } from '../../manifest/memory-store';

function line(
  key: string,
  outcome: RowOutcome,
  generation: number,
  state: LedgerLine['state'],
): CampaignRowResult {
  return {
    row: 0,
    line: 1,
    key,
    content: 'c'.repeat(64),
    generation,
    page: 0,
    index: 0,
    operation: 'create_video',
    model: 'cine-1',
    outcome,
    attempt: 0,
    taskId: null,
    account: null,
    artifacts: [],
    requested: { durationSeconds: 2, resolution: null, referenceMode: null },
    warnings: [],
    ledger: [{ attempt: 0, creationKey: `c/${key}/0`, taskId: null, estimate: 100_000, state }],
    startedAt: null,
    createdAt: null,
    finishedAt: new Date(0).toISOString(),
    polls: 0,
  };
}

it('media.countResults counts the line of each row that counts, however often a row was written', async () => {
  const store = memoryStore();
  const record = createRecordRows({ artifacts: store });
  const first = await record({
    rows: [line('a', 'unconfirmed', 0, 'reserved'), line('b', 'completed', 0, 'settled')],
  });
  const again = await record({
    rows: [line('b', 'completed', 0, 'settled'), line('c', 'skipped_budget', 0, 'none')],
  });
  const later = await record({ rows: [line('a', 'completed', 1, 'settled')] });
  const results: ResultsRef = {
    v: 1,
    generation: 1,
    indexes: [],
    segments: [first.sha256, later.sha256, again.sha256],
    counts: {},
    money: NO_MONEY,
    currency: 'USD',
  };
  const count = createCountResults({ artifacts: store });
  await expect(new MockActivityEnvironment().run(count, results)).resolves.toEqual({
    counts: { completed: 2, skipped_budget: 1 },
    money: { ...NO_MONEY, settled: 200_000 },
  });
});
