import { type CheckReport } from './check';
import { CHECKS } from './checks';

const WORDS = { ok: 'ok', warning: 'warn', failed: 'FAIL', skipped: 'skip' } as const;
const WIDTH = Math.max(...CHECKS.map(({ title }) => title.length));

/** What people read of one check: a line, and the remedy below it. */
export function linesOf(report: CheckReport): readonly string[] {
  const title = CHECKS.find(({ name }) => name === report.name)?.title ?? report.name;
  const line = `${WORDS[report.state].padEnd(4)} ${title.padEnd(WIDTH)}  ${report.message}`;
  return 'remedy' in report ? [line, `     ${' '.repeat(WIDTH)}  ${report.remedy}`] : [line];
}
