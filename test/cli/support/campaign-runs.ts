import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type CampaignResult } from '../../../src/domain/campaign/campaign-state';
import { type CliBench } from './cli-bench';
import { type CliReply, type CliRun, runJson } from './run-cli';

/** One row of a manifest that the sandbox prices at 0.10 USD. */
export const film = (id: string, prompt = `a boat for ${id}`): string => `${id},cine-1,${prompt},2,480p`;

/** Runs campaigns of one test file. */
export class CampaignRuns {
  constructor(private readonly bench: CliBench) {}

  id(prefix: string): string {
    return this.bench.server.uniqueId(prefix);
  }

  async manifest(name: string, rows: readonly string[]): Promise<string> {
    const file = path.join(this.bench.dir, `${name}.csv`);
    await writeFile(file, ['id,model,prompt,duration,resolution', ...rows, ''].join('\n'));
    return file;
  }

  async created(): Promise<number> {
    return (await this.bench.sandbox.admin.counters()).creates.accepted;
  }

  /** `campaign …` with --json; the envelope says the same as the exit code. */
  async run(...args: readonly string[]): Promise<{
    readonly code: number | null;
    readonly type: string | undefined;
    readonly result: Partial<CampaignResult> & Record<string, unknown>;
    readonly reply: CliReply;
    readonly run: CliRun;
  }> {
    const run = await runJson(['campaign', ...args], this.bench.workerEnv);
    const { reply, code } = run;
    expect([reply.ok, run.stderr]).toEqual([code === 0 || code === 75, run.stderr]);
    return { code, type: reply.error?.type, result: reply.data ?? {}, reply, run };
  }

  /** Waits until the newest run of a campaign has ended, whoever waits for it. */
  async ended(id: string): Promise<CampaignResult> {
    return (await this.bench.server.client.workflow.getHandle(id).result()) as CampaignResult;
  }
}
