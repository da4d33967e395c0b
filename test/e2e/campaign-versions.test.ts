import { batchWorkflowId } from '../../src/domain/campaign/budget-book';
import { type CampaignState } from '../../src/domain/campaign/campaign-state';
import { isOlder } from '../../src/worker/temporal-server-version';
import { campaignStateOf, type Row, startCampaign } from '../support/campaign';
import { eventually } from '../support/eventually';
import { type MediaStack, type RunningWorker, startMediaStack } from '../support/media-stack';
import { setCurrentVersion } from '../support/worker-versions';

/** The first server that tells a pinned workflow of a new version. */
const TELLS = '1.31.0';

describe('a campaign that is pinned to a worker version', () => {
  let stack: MediaStack;
  let isTold = false;
  beforeAll(async () => {
    stack = await startMediaStack({ sandbox: { timing: { queuedMs: 0, runningMs: 500 }, videos: 'shared' } });
    const { serverVersion } = await stack.server.client.workflowService.getSystemInfo({});
    isTold = !isOlder(serverVersion ?? '', TELLS);
  });
  afterAll(() => stack.stop());

  const test = (title: string, body: () => Promise<void>): void =>
    it(
      title,
      async () => {
        if (isTold) await body();
        else process.stdout.write(`SKIPPED ${title}: this server says nothing of versions\n`);
      },
      180_000,
    );

  const rowsOf = (name: string, count: number, seconds: number): Row[] =>
    Array.from({ length: count }, (_, n) => ({
      id: `${n}`,
      model: 'cine-1',
      prompt: `[run:${seconds}s] ${name} ${n}`,
      duration: 2,
    }));

  const startVersion = (deployment: string, buildId: string): Promise<RunningWorker> =>
    stack.startWorker({ env: { MEDIA_DEPLOYMENT: `${deployment}:${buildId}` }, ownConnection: true });

  interface Run {
    readonly runId: string;
    /** Versions on which its workflow tasks ran. */
    readonly versions: readonly string[];
    readonly next: string | undefined;
  }

  async function runOf(workflowId: string, runId?: string): Promise<Run> {
    const { events } = await stack.server.client.workflow.getHandle(workflowId, runId).fetchHistory();
    const versions = (events ?? []).flatMap(({ workflowTaskCompletedEventAttributes: completed }) =>
      completed == null ? [] : [completed.deploymentVersion?.buildId ?? 'none'],
    );
    const next = events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId;
    return { runId: runId ?? '', versions: [...new Set(versions)], next: next ?? undefined };
  }

  async function runsOf(workflowId: string, first: string): Promise<readonly Run[]> {
    const runs: Run[] = [];
    for (let runId: string | undefined = first; runId !== undefined; runId = runs.at(-1)?.next)
      runs.push(await runOf(workflowId, runId));
    return runs;
  }

  /** As `temporal workflow update-options` does. */
  async function move(workflowId: string, versioningOverride: object): Promise<void> {
    const { client, namespace } = stack.server;
    await client.workflowService.updateWorkflowExecutionOptions({
      namespace,
      workflowExecution: { workflowId },
      workflowExecutionOptions: { versioningOverride },
      updateMask: { paths: ['versioning_override'] },
    });
  }

  const inFlight = (state: CampaignState): boolean => state.inFlight > 0;

  async function begun(rows: readonly Row[], deployment: string) {
    const first = await startVersion(deployment, '1');
    await setCurrentVersion(stack, deployment, '1');
    const handle = await startCampaign(stack, rows, { concurrency: 4, rowsPerBatch: 4 });
    await eventually('rows in flight', async () => campaignStateOf(handle).then(inFlight, () => false));
    const second = await startVersion(deployment, '2');
    return { first, second, handle };
  }

  test('continues as new on the next version, each run and batch on one version, each row bought once', async () => {
    const deployment = stack.server.uniqueId('versions');
    const rows = rowsOf('moved', 12, 4);
    const { first, second, handle } = await begun(rows, deployment);
    const { creates: before } = await stack.sandbox.admin.counters();
    expect(before.accepted).toBeLessThan(12);
    await setCurrentVersion(stack, deployment, '2');
    const { next } = await eventually('a next run', async () => {
      const run = await runOf(handle.workflowId, handle.firstExecutionRunId);
      return run.next !== undefined && run;
    });
    await eventually('its first task on the new version', async () =>
      (await runOf(handle.workflowId, next)).versions.includes('2'),
    );
    // No run and no batch is left on the old version.
    await first.stop();
    const result = await handle.result();
    expect(result).toMatchObject({ outcome: 'completed', counts: { completed: 12 } });
    const runs = await runsOf(handle.workflowId, handle.firstExecutionRunId);
    expect(runs.map(({ versions }) => versions)).toEqual([['1'], ['2']]);
    const batches: (readonly string[])[] = [];
    for (let batch = 0; ; batch += 1) {
      const id = batchWorkflowId(handle.workflowId, batch);
      const run = await runOf(id).catch(() => undefined);
      if (run === undefined) break;
      batches.push(run.versions);
    }
    expect(batches.every(({ length }) => length === 1)).toBe(true);
    expect(new Set(batches.flat())).toEqual(new Set(['1', '2']));
    expect((await stack.sandbox.admin.counters()).creates.accepted).toBe(12);
    await second.stop();
  });

  test('stays where an operator has pinned it, and does not continue as new for nothing', async () => {
    const deployment = stack.server.uniqueId('versions');
    const rows = rowsOf('held', 8, 2);
    const { first, second, handle } = await begun(rows, deployment);
    const version = { deploymentName: deployment, buildId: '1' };
    await move(handle.workflowId, { pinned: { behavior: 1, version } });
    await setCurrentVersion(stack, deployment, '2');
    expect(await handle.result()).toMatchObject({ outcome: 'completed', counts: { completed: 8 } });
    const runs = await runsOf(handle.workflowId, handle.firstExecutionRunId);
    expect(runs.map(({ versions }) => versions)).toEqual([['1']]);
    await first.stop();
    await second.stop();
  });

  test('whose workers stopped too early is moved by an operator, with its open batches', async () => {
    const deployment = stack.server.uniqueId('versions');
    const rows = rowsOf('stranded', 8, 2);
    const { first, second, handle } = await begun(rows, deployment);
    const { batches } = await campaignStateOf(handle);
    await first.stop();
    await setCurrentVersion(stack, deployment, '2');
    for (const { workflowId } of [handle, ...batches]) await move(workflowId, { autoUpgrade: true });
    expect(await handle.result()).toMatchObject({ outcome: 'completed', counts: { completed: 8 } });
    const requests = await stack.sandbox.admin.requests({ operation: 'create' });
    expect(requests.filter(({ json }) => JSON.stringify(json).includes('stranded'))).toHaveLength(8);
    await second.stop();
  });
});
