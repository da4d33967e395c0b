import {
  defineSearchAttributeKey,
  type SearchAttributePair,
  SearchAttributeType,
  type VersioningBehavior,
  type WorkflowDefinitionOptions,
} from '@temporalio/common';
import { upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { SEARCH_ATTRIBUTE, SEARCH_ATTRIBUTES, type SearchFacts, searchPairs } from '../domain/names';

const keyOf = (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD);

/**
 * Whether this execution was started with a search attribute of ours. Only then does the namespace have them for sure:
 * one that is not registered would fail the workflow task for ever.
 */
function isSearchable(): boolean {
  const { typedSearchAttributes } = workflowInfo();
  return SEARCH_ATTRIBUTES.some((name) => typedSearchAttributes.get(keyOf(name)) !== undefined);
}

/** Takes the outcome back: a person has decided about a call of unknown fate, and the workflow goes on. */
export function forgetOutcome(): void {
  const key = keyOf(SEARCH_ATTRIBUTE.outcome);
  if (workflowInfo().typedSearchAttributes.get(key) !== undefined)
    upsertSearchAttributes([{ key, value: null }]);
}

/** Makes facts of this execution searchable, where it was started so. One event for each change. */
export function recordFacts(facts: SearchFacts): void {
  if (!isSearchable()) return;
  const { typedSearchAttributes } = workflowInfo();
  const changed = pairsOf(facts).filter(({ key, value }) => typedSearchAttributes.get(key) !== value);
  if (changed.length > 0) upsertSearchAttributes(changed);
}

/** Search attributes of a child, where this execution has some. */
export function searchableChild(facts: SearchFacts): {
  readonly typedSearchAttributes?: SearchAttributePair[];
} {
  return isSearchable() ? { typedSearchAttributes: pairsOf(facts) } : {};
}

function pairsOf(facts: SearchFacts) {
  return searchPairs(facts).map(([name, value]) => ({ key: keyOf(name), value }));
}

/**
 * How workflows behave in a worker deployment with versions (docs/operations.md, "New versions"). Without versions a
 * server refuses every workflow task that names a behaviour.
 */
const behaving = (versioningBehavior: VersioningBehavior) => (): WorkflowDefinitionOptions =>
  workflowInfo().currentDeploymentVersion?.deploymentName ? { versioningBehavior } : {};

/** A paid call ends on the version that began it: a version that is rolled back keeps what it has bought. */
export const PINNED = behaving('PINNED');

/**
 * A campaign lasts for days, longer than a version: it goes on with the current one, which replays the histories of
 * every earlier one.
 */
export const AUTO_UPGRADE = behaving('AUTO_UPGRADE');
