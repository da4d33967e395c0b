import { type History } from '@temporalio/common/lib/proto-utils';
import { type WrittenBy } from './verdict';

/** The name of this SDK in histories. */
export const SDK = 'temporal-typescript';

/**
 * Who wrote a history.
 * @param shipped version of this package, and the build id that the SDK gives to a worker with its bundle
 */
export function writtenBy(
  history: History,
  shipped?: { readonly version: string; readonly build: string },
): WrittenBy {
  let name = 'unknown';
  let sdk: string | null = null;
  let build: string | null = null;
  let deployment: string | null = null;
  for (const { workflowTaskCompletedEventAttributes: completed } of history.events ?? []) {
    if (completed == null) continue;
    const { sdkName, sdkVersion } = completed.sdkMetadata ?? {};
    // Written with the first task, and again only when it changes.
    name = sdkName || name;
    if (sdkVersion) sdk = `${name} ${sdkVersion}`;
    build = completed.workerVersion?.buildId || completed.deploymentVersion?.buildId || build;
    const version = completed.deploymentVersion;
    if (version?.deploymentName) deployment = `${version.deploymentName}.${version.buildId}`;
  }
  return {
    sdk,
    build,
    deployment,
    package: build !== null && build === shipped?.build ? shipped.version : null,
  };
}
