import { packagedWorkflows } from '../../src/installation';
import { bundledWorkflows } from '../../src/workflow-bundle';

describe('the workflow code of a worker', () => {
  it('is bundled once per process and path', async () => {
    const [first, second] = await Promise.all([
      bundledWorkflows(),
      bundledWorkflows({ workflowsPath: packagedWorkflows() }),
    ]);
    expect(second.workflowBundle).toBe(first.workflowBundle);
  });

  it('is taken as it is when it comes as a bundle', async () => {
    const prebuilt = { workflowBundle: { codePath: 'mine.js' } };
    expect(await bundledWorkflows(prebuilt)).toBe(prebuilt);
  });
});
