import { type SdkCopy, sdkCopies, sdkCopiesWithApplication } from '../../sdk-copies';
import { type Check, failed, type Finding, ok } from './check';

const PACKAGES = ['@temporalio/worker', '@temporalio/client', '@temporalio/workflow', '@temporalio/activity'];

/** Whether everything that throws and reads failures shares one copy of the SDK. */
export const oneSdk: Check = {
  name: 'sdk',
  title: 'Temporal SDK',
  after: [],
  limitMs: 3_000,
  late: 'unexpected',
  run: async ({ cwd }) => judgeSdkCopies(sdkCopiesWithApplication(cwd, sdkCopies(PACKAGES))),
};

/** Names who loads which version, and no path. */
export function judgeSdkCopies(copies: readonly SdkCopy[]): Finding {
  const [ours, ...others] = copies;
  if (others.length === 0) return ok(`${ours?.version ?? 'unknown'}, one copy`);
  const named = copies.map(({ by, version }) => `${by} loads ${version}`).join(', ');
  return failed('two_sdk_copies', `${copies.length} copies of @temporalio/common are installed: ${named}.`);
}
