import { type CampaignRow } from './campaign/row';
import { type Check, must } from './shape';

/**
 * Prefixes of derived creation keys, as opposed to keys that callers pass. Each kind has its own prefix, and separators
 * within a key's parts are percent-encoded, so two kinds, or two calls of one kind, never get the same key.
 */
const MARK = { run: 'media-run/', activity: 'media-activity/', row: 'media-row/' } as const;

/**
 * Returns the key of a workflow's paid call. It consists of a run id that survives a reset (workflows/creation-key
 * chooses it) and the call's index in that run.
 */
export function runKey(workflowId: string, runId: string, ordinal: number): string {
  return `${runKeyPrefix(workflowId)}${escaped(runId)}/${ordinal}`;
}

/**
 * Returns the key of an activity whose caller passed no key. The key is derived from the activity's ids, so the call is
 * bought again after a reset of its workflow. Without a workflow, the key is the activity id that the caller chose,
 * just as a workflow that a client starts uses its workflow id.
 */
export function activityKey(workflowId: string | null, runId: string | null, activityId: string): string {
  if (workflowId === null) return activityId;
  const parts = [workflowId, runId ?? '', activityId];
  return `${MARK.activity}${parts.map((part) => escaped(part)).join('/')}`;
}

/** Returns the key of one attempt of a campaign row. The same attempt never buys twice. */
export function rowCreationKey(
  campaign: string,
  row: Pick<CampaignRow, 'key' | 'content' | 'rebought'>,
  attempt: number,
): string {
  const key = escaped(row.key, /[%/@]/g);
  const text = row.rebought === true ? `${key}@${row.content.slice(0, 12)}` : key;
  return `${campaignKeyPrefix(campaign)}${text}/${attempt}`;
}

/** Returns the prefix that only this campaign's creation keys have. */
export function campaignKeyPrefix(campaign: string): string {
  return `${MARK.row}${escaped(campaign)}/`;
}

/** Checks a key that is used to look up a call. */
export const creationKeyCheck: Check<string> = must(
  'the key of a paid call, a non-empty string',
  (value) => typeof value === 'string' && value !== '',
);

/**
 * Returns the reason a caller's key is rejected, or undefined if it is accepted. A derived key belongs to another call,
 * and only the workflow for which it was derived may pass it on.
 * @param maker the workflow for which the key may have been derived, if any
 */
export function givenKeyIssue(given: string, maker?: string): string | undefined {
  if (!Object.values(MARK).some((mark) => given.startsWith(mark))) return undefined;
  if (maker !== undefined && given.startsWith(runKeyPrefix(maker))) return undefined;
  const marks = Object.values(MARK).join(', ');
  return `creationKey starts with a prefix that is reserved for derived keys (${marks}), so it could belong to another call. Nothing was sent. Pass your own key, such as the id of the row or order that the call is for.`;
}

/** What a key was derived from: a run of a workflow, or a campaign. */
export interface KeySource {
  readonly by: keyof typeof MARK;
  /** Workflow ID of the workflow or campaign. */
  readonly workflowId: string;
  /** Only a reset of this run derives the key again. Empty for a campaign. */
  readonly runId: string;
}

/** Returns what a key was derived from, or undefined for a key that a caller passed. */
export function keySource(key: string): KeySource | undefined {
  const by = (['run', 'activity', 'row'] as const).find((kind) => key.startsWith(MARK[kind]));
  if (by === undefined) return undefined;
  const [workflowId = '', second = ''] = key.slice(MARK[by].length).split('/').map(unescaped);
  return { by, workflowId, runId: by === 'row' ? '' : second };
}

const runKeyPrefix = (workflowId: string): string => `${MARK.run}${escaped(workflowId)}/`;

function escaped(text: string, signs = /[%/]/g): string {
  return text.replace(signs, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

function unescaped(text: string): string {
  return text.replace(/%([0-9A-F]{2})/g, (_all, code: string) => String.fromCharCode(parseInt(code, 16)));
}
