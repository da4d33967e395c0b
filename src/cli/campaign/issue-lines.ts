import { type CampaignPlan, type ManifestIssue } from '../../domain/campaign/plan';
import { plainKey } from './campaign-text';

/** Issues that are shown to people; `-o jsonl` has all of them. */
export const SHOWN_LINES = 20;

/** `line 12, duration (row sku-7): message Allowed: 2, 4.` */
export function issueLine({ line, column, message, allowed, id }: ManifestIssue): string {
  const place = [`line ${line}`, ...(column === null ? [] : [plainKey(column)])].join(', ');
  const row = id === undefined ? '' : ` (row ${plainKey(id)})`;
  const listed = allowed === undefined || allowed.length === 0 ? '' : ` Allowed: ${allowed.join(', ')}.`;
  return `${place}${row}: ${message}${listed}`;
}

/** The first issues of a plan, one a line, and how many rows have others. */
export function issueLines({ issues, invalid }: Pick<CampaignPlan, 'issues' | 'invalid'>): string[] {
  const lines = issues.slice(0, SHOWN_LINES).map(issueLine);
  const rows = new Set(issues.slice(0, SHOWN_LINES).map(({ line }) => line)).size;
  if (rows < invalid) lines.push(`… and ${invalid - rows} more rows; --dry-run -o jsonl lists all of them.`);
  return lines;
}
