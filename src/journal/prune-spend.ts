import { spendWindow } from '../domain/spend-limit';
import { parseCampaignRecord } from './campaign-records';
import { pagesOf } from './create-journal';
import { CAMPAIGNS } from './record-names';
import { type RecordStore } from './record-store';

interface PruneSpendOptions {
  readonly records: RecordStore;
  /** Windows with younger records are kept. */
  readonly before: Date;
  /** Counts without removing. */
  readonly dryRun: boolean;
  /** Milliseconds since the Unix epoch. @default the clock */
  readonly now?: () => number;
}

/** Hosts whose clocks are behind may still write into a window that has ended here. */
const BEHIND_MS = 86_400_000;

/**
 * Removes what accounts have spent in windows of their limits that have ended: no call is counted in them any more. All
 * records of a window are in its month, the longest window there is. @returns how many records
 */
export async function pruneSpend({
  records,
  before,
  dryRun,
  now = Date.now,
}: PruneSpendOptions): Promise<number> {
  const isOver = (at: string): boolean => {
    const time = Date.parse(at);
    // A time that cannot be read counts as now.
    return time < before.getTime() && spendWindow('month', time).endsAt + BEHIND_MS < now();
  };
  let removed = 0;
  let log: { readonly prefix: string; readonly ended: boolean } | undefined;
  for await (const page of pagesOf(records, CAMPAIGNS)) {
    for (const name of page) {
      const prefix = name.slice(0, name.lastIndexOf('/') + 1);
      if (log?.prefix !== prefix) log = { prefix, ended: await isEndedSpend(records, name, isOver) };
      if (!log.ended) continue;
      if (!dryRun) await records.remove(name);
      removed += 1;
    }
  }
  return removed;
}

/** Names of logs are digests: only a record says whose log it is. */
async function isEndedSpend(
  records: RecordStore,
  name: string,
  isOver: (at: string) => boolean,
): Promise<boolean> {
  const text = await records.read(name);
  if (text === null) return false;
  const record = parseCampaignRecord(text);
  return record.kind === 'spend' && isOver(record.at);
}
