import { type CheckReport } from './check';

/** The one sentence that answers the question of the command, and what it does not know. */
export function summaryOf(checks: readonly CheckReport[]): string {
  const failures = checks.filter(({ state }) => state === 'failed').map(({ name }) => name);
  if (failures.length > 0) {
    const count = `${failures.length} of ${checks.length} checks failed`;
    return `No video could be made now: ${count} (${failures.join(', ')}).`;
  }
  const unseen = checks.filter(({ state }) => state === 'skipped').map(({ name }) => name);
  return unseen.length === 0
    ? 'A video could be made now.'
    : `A video could be made now, as far as this machine can see. Not looked at here: ${unseen.join(', ')}; \`doctor\` where the worker runs does.`;
}
