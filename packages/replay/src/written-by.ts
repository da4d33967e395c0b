import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { type History } from '@temporalio/common/lib/proto-utils';
import { VERSION_MEMO } from 'temporal-media/internal/domain/version';
import { type WrittenBy } from './verdict';

type Fields = Readonly<Record<string, Payload>>;

/** The name of this SDK in histories. */
export const SDK = 'temporal-typescript';

/** Who wrote a history, and started it. */
export function writtenBy(history: History): WrittenBy {
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
    package: versionIn(history.events?.[0]?.workflowExecutionStartedEventAttributes?.memo),
  };
}

const VERSION = /^\d{1,4}\.\d{1,4}\.\d{1,4}$/;

/** The version of this package in a memo; null where another client has written it. */
export function versionIn(memo: { readonly fields?: Fields | null } | null | undefined): string | null {
  const payload = memo?.fields?.[VERSION_MEMO];
  try {
    const version: unknown = payload && defaultPayloadConverter.fromPayload(payload);
    return typeof version === 'string' && VERSION.test(version) ? version : null;
  } catch (_error) {
    // A memo of another codec, or of somebody else.
    return null;
  }
}
