import { historyFromJson } from '../../../packages/replay/src/history-codec';
import { type LoadedRun, type LoadedTarget } from '../../../packages/replay/src/loaded-history';
import { goldenFiles, goldenHistory } from '../golden-histories';

/** One golden history as a run; a recorder does not write the id of the run. */
export function goldenRun(file: string): LoadedRun {
  const { json, workflowId, workflowType } = goldenHistory(file);
  const [first] = json.events;
  const { originalExecutionRunId } = first?.['workflowExecutionStartedEventAttributes'] as {
    readonly originalExecutionRunId: string;
  };
  return {
    workflowId,
    workflowType,
    runId: originalExecutionRunId,
    source: file,
    history: historyFromJson(json),
  };
}

export const goldenTarget = (...files: readonly string[]): LoadedTarget => ({
  target: files[0] ?? '',
  runs: files.map(goldenRun),
});

/** All golden histories: runs that continued as new together, everything else by itself. */
export function goldenTargets(): readonly LoadedTarget[] {
  const chains = new Map<string, string[]>();
  for (const file of goldenFiles()) {
    const name = file.replace(/-run\d+\.v\d+\.json$/, '');
    chains.set(name, [...(chains.get(name) ?? []), file]);
  }
  return [...chains.values()].map((files) => goldenTarget(...files));
}
