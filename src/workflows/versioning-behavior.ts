import { type VersioningBehavior, type WorkflowDefinitionOptions } from '@temporalio/common';
import { workflowInfo } from '@temporalio/workflow';

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
