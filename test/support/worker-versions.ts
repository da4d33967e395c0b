import { eventually } from './eventually';
import { type MediaStack } from './media-stack';

/** As `temporal worker deployment set-current-version` does, once the server has heard of the version. */
export async function setCurrentVersion(
  stack: MediaStack,
  deploymentName: string,
  buildId: string,
): Promise<void> {
  const { client, namespace } = stack.server;
  await eventually(`${buildId} current`, () =>
    client.workflowService
      .setWorkerDeploymentCurrentVersion({ namespace, deploymentName, buildId, identity: 'test' })
      .then(
        () => true,
        () => false,
      ),
  );
}
