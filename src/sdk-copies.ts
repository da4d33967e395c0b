import { dirname } from 'node:path';

/**
 * Two copies of @temporalio/common do not recognise each other's failures: a non-retryable create would be retried.
 * @throws Error naming both paths
 */
export function refuseTwoSdkCopies(): void {
  const ours = require.resolve('@temporalio/common');
  const workers = require.resolve('@temporalio/common', {
    paths: [dirname(require.resolve('@temporalio/worker'))],
  });
  if (ours === workers) return;
  throw new Error(
    `Two copies of @temporalio/common are installed: ${ours} and ${workers}. ` +
      'Install one version of all @temporalio packages (npm ls @temporalio/common) and start again.',
  );
}
