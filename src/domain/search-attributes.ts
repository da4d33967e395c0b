/**
 * Search attributes of this package, all of the type Keyword. They are not encrypted by a codec: none holds a prompt.
 * A start opts in by having one of them, see `isSearchable` of the workflows.
 */
export const SEARCH_ATTRIBUTE = {
  /** How the workflow ended; `unconfirmed` also while it waits for a decision. */
  outcome: 'MediaOutcome',
  model: 'MediaModel',
  /** The credential of the start; once a task exists, the account that it is kept under, `name@digest`. */
  account: 'MediaAccount',
  taskId: 'MediaTaskId',
  /** Id of the campaign, on itself and on its batches. */
  campaign: 'MediaCampaign',
} as const;

export type SearchFacts = { readonly [fact in keyof typeof SEARCH_ATTRIBUTE]?: string };

export const SEARCH_ATTRIBUTES: readonly string[] = Object.values(SEARCH_ATTRIBUTE);

/** Names and values of the facts that are known. */
export function searchPairs(facts: SearchFacts): readonly (readonly [name: string, value: string])[] {
  return Object.entries(facts).flatMap(([fact, value]) =>
    // A caller without types may have put anything into its request.
    typeof value !== 'string' ? [] : [[SEARCH_ATTRIBUTE[fact as keyof SearchFacts], value] as const],
  );
}
