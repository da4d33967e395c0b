import { type CheckReport } from '../../../src/cli/doctor/check';
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

/** Whatever doctor looked at: nothing was bought, and nothing that it sent breaks the contract. */
export async function expectNothingBought({ sandbox }: CliBench): Promise<void> {
  const { creates, images } = await sandbox.admin.counters();
  expect([creates.received, images.received]).toEqual([0, 0]);
  const requests = await sandbox.admin.requests();
  expect(requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  expect(requests.flatMap(({ violations }) => violations)).toEqual([]);
}
