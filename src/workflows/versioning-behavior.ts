import { type WorkflowDefinitionOptions } from '@temporalio/common';

/**
 * How workflows behave in a worker deployment with versions (docs/operations.md, "A new version"). Without one it means
 * nothing, and no history has it.
 *
 * A paid call ends on the version that began it: a version that is rolled back keeps what it has bought.
 */
export const PINNED: WorkflowDefinitionOptions = { versioningBehavior: 'PINNED' };

/**
 * A campaign lasts for days, longer than a version: it goes on with the current one, which replays the histories of
 * every earlier one.
 */
export const AUTO_UPGRADE: WorkflowDefinitionOptions = { versioningBehavior: 'AUTO_UPGRADE' };
