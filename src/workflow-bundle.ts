import { bundleWorkflowCode, DefaultLogger, type WorkerOptions } from '@temporalio/worker';
import { packagedWorkflows } from './packaged-workflows';

type Workflows = Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath'>;

const bundles = new Map<string, Promise<{ readonly code: string }>>();

/**
 * Workflow code that is bundled once per process and path: the worker that binds the journal and the worker proper
 * run the same code, and neither bundles it again.
 */
export async function bundledWorkflows(workflows: Workflows | undefined): Promise<Workflows> {
  if (workflows?.workflowBundle != null) return workflows;
  const workflowsPath = workflows?.workflowsPath ?? packagedWorkflows();
  let bundle = bundles.get(workflowsPath);
  if (bundle === undefined) {
    // The bundler tells every module at INFO; a failure is thrown and needs no log.
    bundle = bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
    bundles.set(workflowsPath, bundle);
    bundle.catch(() => bundles.delete(workflowsPath));
  }
  return { workflowBundle: await bundle };
}
