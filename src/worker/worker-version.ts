import { type WorkerOptions } from '@temporalio/worker';
import { type MediaConfig } from '../config';
import { WorkerSetupError } from '../package-file';

/**
 * The version of all workers of a process: the user's, else that of MEDIA_DEPLOYMENT. Its default behaviour is for workflows that
 * name none; ours do. @throws WorkerSetupError
 */
export function versionOf(
  { deployment }: Pick<MediaConfig, 'deployment'>,
  users: WorkerOptions['workerDeploymentOptions'],
): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  if (users !== undefined) {
    // Our workflows name a behaviour once their worker has a version, which the server accepts of versioned workers only.
    if (!users.useWorkerVersioning && users.version.deploymentName !== '')
      throw new WorkerSetupError(
        `workerDeploymentOptions name the version "${users.version.deploymentName}:${users.version.buildId}" with useWorkerVersioning: false: the server would ` +
          'refuse every workflow task of temporal-media. Set useWorkerVersioning to true, or leave workerDeploymentOptions out.',
      );
    return {};
  }
  if (deployment === undefined) return {};
  const { name: deploymentName, buildId } = deployment;
  return {
    workerDeploymentOptions: {
      useWorkerVersioning: true,
      version: { deploymentName, buildId },
      defaultVersioningBehavior: 'PINNED',
    },
  };
}
