import {
  defineSearchAttributeKey,
  type SearchAttributePair,
  SearchAttributeType,
  type VersioningBehavior,
  type WorkflowDefinitionOptions,
} from '@temporalio/common';
import { upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import {
  SEARCH_ATTRIBUTE,
  SEARCH_ATTRIBUTES,
  searchAttributeType,
  type SearchFacts,
  searchPairs,
} from '../domain/names';

const keyOf = (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD);

/**
 * Whether this execution was started with one of this package's search attributes. Only then is it certain that the
 * attributes are registered in the namespace. An unregistered attribute would fail the workflow task indefinitely.
 */
function isSearchable(): boolean {
  const { typedSearchAttributes } = workflowInfo();
  return SEARCH_ATTRIBUTES.some((name) => typedSearchAttributes.get(keyOf(name)) !== undefined);
}

/** Removes the outcome after a person has decided about an unconfirmed call, because the workflow keeps running. */
export function forgetOutcome(): void {
  const key = keyOf(SEARCH_ATTRIBUTE.outcome);
  if (workflowInfo().typedSearchAttributes.get(key) !== undefined)
    upsertSearchAttributes([{ key, value: null }]);
}

/**
 * Makes facts about this execution searchable, if it was started with search attributes. Each change adds one event.
 */
export function recordFacts(facts: Omit<SearchFacts, 'labels'>): void {
  if (!isSearchable()) return;
  const { typedSearchAttributes } = workflowInfo();
  const changed = pairsOf(facts).filter(
    ({ key, value }) => typedSearchAttributes.get(keyOf(key.name)) !== value,
  );
  if (changed.length > 0) upsertSearchAttributes(changed);
}

/** Returns a child's search attributes, if this execution has any. */
export function searchableChild(facts: SearchFacts): {
  readonly typedSearchAttributes?: SearchAttributePair[];
} {
  return isSearchable() ? { typedSearchAttributes: pairsOf(facts) } : {};
}

function pairsOf(facts: SearchFacts): SearchAttributePair[] {
  return searchPairs(facts).map(
    ([name, value]) =>
      ({ key: defineSearchAttributeKey(name, searchAttributeType(name)), value }) as SearchAttributePair,
  );
}

/**
 * How workflows behave in a versioned worker deployment (docs/operations.md, "New versions"). Without versioning, a
 * server rejects every workflow task that specifies a behavior.
 */
const behaving = (versioningBehavior: VersioningBehavior) => (): WorkflowDefinitionOptions =>
  workflowInfo().currentDeploymentVersion?.deploymentName ? { versioningBehavior } : {};

/**
 * A run finishes on the version that started it, so rolling back a version does not lose what it has bought. A campaign
 * and its batches move between runs (campaign/history-limits).
 */
export const PINNED = behaving('PINNED');

/**
 * A watcher may live as long as videos are bought, so its version would never drain. It continues on the current
 * version, which can replay histories from all earlier versions.
 */
export const AUTO_UPGRADE = behaving('AUTO_UPGRADE');
