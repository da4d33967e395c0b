import { type Operation, type RunOperations } from './operations';

/**
 * A reset run begins with copies of the events of the run that it was reset from. Where that run is told just before it, its
 * copies belong to the reset, so that each paid request is told once, by the run that sent it.
 */
export function withoutCopies(runs: readonly RunOperations[]): readonly RunOperations[] {
  return runs.map((run, index) => {
    const reset = run.operations.findLast(({ kind }) => kind === 'reset');
    const isCopied = reset !== undefined && reset.target?.runId === runs[index - 1]?.run.runId;
    return isCopied ? fromReset(run, reset) : run;
  });
}

function fromReset(run: RunOperations, reset: Operation): RunOperations {
  const at = reset.ids[0] ?? 0;
  // What is open goes on in this run.
  const isCopy = ({ ids, end }: Operation): boolean => end !== 'open' && ids.every((id) => id < at);
  const copies = run.operations.filter(isCopy).flatMap(({ ids }) => ids);
  const own = { ...reset, ids: [...copies, ...reset.ids] };
  return {
    ...run,
    operations: run.operations
      .filter((operation) => !isCopy(operation))
      .map((operation) => (operation === reset ? own : operation)),
    tasks: run.tasks.filter((task) => task.at >= reset.at),
    firstAt: reset.at,
  };
}
