import { type CheckReport } from '../../../packages/cli/src/doctor/check';
import { activityQueues } from '../../../src/domain/names';
import { eventually } from '../../support/eventually';
import { type CliBench } from './cli-bench';
import { type CliReply, replyOf, runCli } from './run-cli';

/** One run of `doctor --json`. */
export interface DoctorRun {
  readonly code: number | null;
  /** All that was printed. */
  readonly text: string;
  readonly error: CliReply['error'];
  readonly summary: string;
  /** By name. */
  readonly checks: { readonly [name: string]: CheckReport | undefined };
  /** Names of the failed checks, in order. */
  readonly failed: readonly string[];
}

export async function runDoctor(env: NodeJS.ProcessEnv, cwd?: string): Promise<DoctorRun> {
  const run = await runCli(['doctor', '--json'], env, cwd);
  const reply = replyOf(run);
  const data = reply.data as unknown as { ok: boolean; checks: readonly CheckReport[]; summary: string };
  expect(data.ok).toBe(reply.ok);
  expect(run.code === 0).toBe(reply.ok);
  return {
    code: run.code,
    text: `${run.stdout}${run.stderr}`,
    error: reply.error,
    summary: data.summary,
    checks: Object.fromEntries(data.checks.map((check) => [check.name, check])),
    failed: data.checks.filter(({ state }) => state === 'failed').map(({ name }) => name),
  };
}

/** Starts a worker, and waits until the server has seen its polls: it is ready before they have arrived. */
export async function startPolledWorker(bench: CliBench): Promise<void> {
  await bench.startWorker();
  const { server, clientEnv } = bench;
  const taskQueue = clientEnv['MEDIA_TASK_QUEUE'] ?? '';
  const queues = [
    [taskQueue, 1] as const,
    ...[taskQueue, ...Object.values(activityQueues(taskQueue))].map((name) => [name, 2] as const),
  ];
  for (const [name, taskQueueType] of queues)
    await eventually(`a poll of ${name}`, async () => {
      const { namespace } = server;
      const asked = { namespace, taskQueue: { name }, taskQueueType };
      return (await server.client.workflowService.describeTaskQueue(asked)).pollers?.length;
    });
}

/** Whatever doctor looked at: nothing was bought, and nothing that it sent breaks the contract. */
export async function expectNothingBought({ sandbox }: CliBench): Promise<void> {
  const { creates, images } = await sandbox.admin.counters();
  expect([creates.received, images.received]).toEqual([0, 0]);
  const requests = await sandbox.admin.requests();
  expect(requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  expect(requests.flatMap(({ violations }) => violations)).toEqual([]);
}
