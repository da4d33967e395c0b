import { type LoadedRun, type LoadedTarget, runBefore } from '../../../packages/replay/src/loaded-history';

/**
 * Joins runs that continued as new, are a retry, a next cron run or a reset of another one; the rest are chains of one run.
 */
export function chainsOf(runs: readonly LoadedRun[]): readonly LoadedTarget[] {
  const next = new Map<LoadedRun, LoadedRun>();
  const followers = new Set<LoadedRun>();
  const byRun = new Map(runs.map((run) => [run.runId, run]));
  for (const run of runs) {
    const before = byRun.get(runBefore(run) ?? '');
    if (before === undefined || before === run || next.has(before) || before.workflowId !== run.workflowId)
      continue;
    next.set(before, run);
    followers.add(run);
  }
  return runs
    .filter((run) => !followers.has(run))
    .map((first) => {
      const chain: LoadedRun[] = [];
      for (let run: LoadedRun | undefined = first; run !== undefined; run = next.get(run)) chain.push(run);
      return { target: first.workflowId, runs: chain };
    });
}
