import { checkLookUp, checkVersions } from '../../packages/cli/src/doctor/temporal';
import { pinnedText } from '../../packages/cli/src/shared/held-workflow';
import { eventually } from '../support/eventually';
import { startMediaStack } from '../support/media-stack';
import { type DoctorRun, runDoctor } from './support/doctor-run';

const NOW = 1_000_000_000;
const v1 = { deploymentName: 'film', buildId: 'v1' };
const v2 = { deploymentName: 'film', buildId: 'v2' };

describe('workers that poll and get nothing', () => {
  test.each([
    ['no version is current', [v1], [], /set-current-version --deployment-name film --build-id v1/],
    ['another version is current', [v1], [v2], /worker with version film v2.*--build-id v1/],
    ['a version is current, and they have none', [null], [v2], /--deployment-name film --unversioned/],
  ])('%s', (_title, polling, current, remedy) => {
    const view = { pollers: polling.map((version) => ({ at: NOW, version })), current };
    const finding = checkVersions(view, 'q', NOW);
    expect(finding).toMatchObject({ state: 'failed', errorType: 'no_worker' });
    expect(finding && 'remedy' in finding && finding.remedy).toMatch(remedy);
  });

  test.each([
    ['the current version is polled', [v1, v2], [v2]],
    ['a version that new work ramps to is polled', [v2], [v1, v2]],
    ['nobody has a version', [null], []],
    ['an old worker without a version goes on beside the new ones', [v1, null], []],
    ['nobody polls', [], [v2]],
  ])('not where %s', (_title, polling, current) => {
    const view = { pollers: polling.map((version) => ({ at: NOW, version })), current };
    expect(checkVersions(view, 'q', NOW)).toBeUndefined();
  });

  test('a workflow whose pinned version is gone is told with the version and the command', () => {
    expect(pinnedText('film 1', 'q', v1)).toMatch(/film v1.*no worker.*--workflow-id 'film 1'/);
  });

  test('doctor says so, with the command, and is content once that was run', async () => {
    const stack = await startMediaStack();
    const deploymentName = stack.server.uniqueId('film');
    try {
      await stack.startWorker({
        worker: {
          workerDeploymentOptions: {
            version: { deploymentName, buildId: 'v1' },
            useWorkerVersioning: true,
            defaultVersioningBehavior: 'AUTO_UPGRADE',
          },
        },
      });
      let before: DoctorRun | undefined;
      // The server lists a worker, and later a current version, a moment after it has answered.
      const isListed = async (): Promise<boolean> => {
        before = await runDoctor(stack.env);
        return before.checks['workers']?.message.includes('no version is current') === true;
      };
      await eventually('a worker that the server lists', isListed);
      expect([before?.failed, before?.error?.type]).toEqual([['workers'], 'no_worker']);
      expect(before?.error?.hint).toContain(`--deployment-name ${deploymentName} --build-id v1`);
      await stack.server.client.workflowService.setWorkerDeploymentCurrentVersion({
        namespace: stack.server.namespace,
        deploymentName,
        version: `${deploymentName}.v1`,
        buildId: 'v1',
        identity: 'operator',
      });
      const isContent = async (): Promise<boolean> =>
        (await runDoctor(stack.env)).checks['workers']?.state === 'ok';
      await eventually('doctor is content', isContent);
    } finally {
      await stack.stop();
    }
  });
});

describe('a server that answers and cannot look anything up', () => {
  const fault = (code: number): Error => Object.assign(new Error('x'), { code });

  test.each([1, 4, 14])('gRPC code %i speaks of its database, and of no `temporal-media dev`', (code) => {
    const finding = checkLookUp(fault(code), 'films');
    expect(finding).toMatchObject({ state: 'failed', errorType: 'temporal_unreachable' });
    expect(finding?.message).toContain('database');
    expect(finding && 'remedy' in finding && finding.remedy).not.toContain('temporal-media dev');
  });

  test('a namespace that is not there and a refusal are what they were', () => {
    expect(checkLookUp(fault(5), 'films')).toMatchObject({ errorType: 'namespace_not_found' });
    expect(checkLookUp(fault(7), 'films')).toMatchObject({ errorType: 'temporal_credentials' });
    expect(checkLookUp(new Error('odd'), 'films')).toBeUndefined();
  });
});
