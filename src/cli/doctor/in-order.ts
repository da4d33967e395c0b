import { type CheckName, type CheckReport } from './check';

/** Hands reports on in the order of `names`, each as soon as all before it have come. */
export function inOrder(
  names: readonly CheckName[],
  handOn: (report: CheckReport) => void,
): (report: CheckReport) => void {
  const waiting = new Map<CheckName, CheckReport>();
  let next = 0;
  return (report) => {
    waiting.set(report.name, report);
    for (;;) {
      const name = names[next];
      const ready = name === undefined ? undefined : waiting.get(name);
      if (ready === undefined) return;
      next += 1;
      handOn(ready);
    }
  };
}
