import { type CampaignRow } from './campaign/row';

/**
 * Every creation key that is made and not given. Each kind begins with a mark of its own, and the signs that part a key
 * are written as in addresses within its parts: neither two kinds nor two calls of one kind can come to the same key.
 */
const MARK = { run: 'media-run/', activity: 'media-activity/', row: 'media-row/' } as const;

/** The key of a paid call of a workflow: which run of the chain it counts as, and its place among the calls of that run. */
export function runKey(workflowId: string, runId: string, ordinal: number): string {
  return `${runKeyPrefix(workflowId)}${escaped(runId)}/${ordinal}`;
}

/** The key of a bare activity that was given none: its own ids. A reset of its workflow buys again. */
export function activityKey(workflowId: string | null, runId: string | null, activityId: string): string {
  const parts = [workflowId ?? '', runId ?? '', activityId];
  return `${MARK.activity}${parts.map((part) => escaped(part)).join('/')}`;
}

/** The key of one attempt of a row of a campaign: the same attempt never buys twice. */
export function rowCreationKey(
  campaign: string,
  row: Pick<CampaignRow, 'key' | 'content' | 'rebought'>,
  attempt: number,
): string {
  const key = escaped(row.key, /[%/@]/g);
  const text = row.rebought === true ? `${key}@${row.content.slice(0, 12)}` : key;
  return `${campaignKeyPrefix(campaign)}${text}/${attempt}`;
}

/** What every creation key of a campaign begins with, and no key of another. */
export function campaignKeyPrefix(campaign: string): string {
  return `${MARK.row}${escaped(campaign)}/`;
}

/**
 * Why a key that a caller gives cannot be taken; undefined when it can. A key that is made here names a call of somebody
 * else's: only the workflow that it was made for may hand it on.
 * @param maker the workflow whose key it may be, if any
 */
export function givenKeyIssue(given: string, maker?: string): string | undefined {
  if (!Object.values(MARK).some((mark) => given.startsWith(mark))) return undefined;
  if (maker !== undefined && given.startsWith(runKeyPrefix(maker))) return undefined;
  const marks = Object.values(MARK).join(', ');
  return `creationKey begins like a key that is made for a call without one (${marks}): it could be that of another call. Nothing was sent. Give a key of your own, such as the id of the row or order it serves.`;
}

const runKeyPrefix = (workflowId: string): string => `${MARK.run}${escaped(workflowId)}/`;

function escaped(text: string, signs = /[%/]/g): string {
  return text.replace(signs, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}
