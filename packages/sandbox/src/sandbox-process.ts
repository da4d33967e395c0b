import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { childEnvironment } from 'temporal-media/internal/stores/files/this-machine';
import { type SandboxCounters, type SandboxPollGaps } from './counters';
import { type FaultRule, type SandboxOperation } from './faults';
import { type InvoiceErrors, type SandboxInvoice } from './invoice';
import { type SandboxOptions } from './options';
import { type SandboxRequest } from './request-log';
import { type SandboxAddresses } from './sandbox';
import { type SandboxStatus, type SandboxTask, type SandboxTaskPatch } from './tasks';

/**
 * Settings that are not passed to the sandbox process. The process is not a Temporal client and does not need
 * Temporal's keys.
 */
const TEMPORAL_SETTINGS = /^TEMPORAL_/i;

/** Options for {@link startSandboxProcess}. */
export interface SandboxProcessOptions extends SandboxOptions {
  /** Whether the child keeps running when this process ends. @default false */
  detached?: boolean;
}

/** A sandbox that runs in its own process. */
export interface SandboxProcess extends SandboxAddresses {
  /** Process id. */
  pid: number;
  /** Access to its faults, counters and requests. */
  admin: SandboxAdmin;
  /** Sends SIGTERM; resolves when the process has ended. */
  close(): Promise<void>;
}

/**
 * Starts a sandbox in its own process and waits until it listens. Without `detached`, the child exits with this
 * process, even if this process is killed. Throws if the package is not built or the child exits before it listens.
 */
export async function startSandboxProcess(options: SandboxProcessOptions = {}): Promise<SandboxProcess> {
  const { detached = false, ...sandbox } = options;
  const child = spawn(process.execPath, [mainFile()], {
    stdio: [detached ? 'ignore' : 'pipe', 'pipe', 'inherit'],
    detached,
    env: {
      ...childEnvironment(process.env, TEMPORAL_SETTINGS),
      SANDBOX_OPTIONS: JSON.stringify(sandbox),
      SANDBOX_DETACHED: detached ? '1' : '',
    },
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const first = await firstLine(child);
  const addresses = JSON.parse(first) as SandboxAddresses & { pid: number };
  if (detached) child.unref();
  return {
    ...addresses,
    admin: new SandboxAdmin(addresses.adminUrl),
    close: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('The sandbox process has no output.');
  const lines = createInterface({ input: child.stdout });
  return new Promise<string>((resolve, reject) => {
    lines.once('line', resolve);
    child.once('error', reject);
    child.once('exit', (code) =>
      reject(new Error(`The sandbox process exited with code ${code} before it was listening.`)),
    );
  });
}

/** The compiled entry point: next to this file, or in lib when this file runs as TypeScript under a test runner. */
function mainFile(): string {
  if (__filename.endsWith('.js')) return join(__dirname, 'main.js');
  let root = __dirname;
  while (!existsSync(join(root, 'package.json'))) root = dirname(root);
  const file = join(root, 'lib', 'main.js');
  if (!existsSync(file)) throw new Error('The sandbox is not compiled. Run the build first.');
  return file;
}

/**
 * Reads the state of a running sandbox and controls its faults. Every method rejects if the sandbox cannot be reached.
 */
export class SandboxAdmin {
  constructor(private readonly adminUrl: string) {}

  /** Returns the requests in order of arrival. */
  requests(filter: { operation?: SandboxOperation } = {}): Promise<SandboxRequest[]> {
    const query = filter.operation === undefined ? '' : `?operation=${filter.operation}`;
    return this.call('GET', `/requests${query}`);
  }

  /** Returns the counters. `prompts: false` omits `acceptedByPromptHash`, which has an entry per prompt. */
  counters({ prompts = true }: { prompts?: boolean } = {}): Promise<SandboxCounters> {
    return this.call('GET', prompts ? '/counters' : '/counters?prompts=none');
  }

  /** Returns statistics on the times between two polls of the same task. With `begin`, resets them afterwards. */
  pollGaps(options: { begin?: boolean } = {}): Promise<SandboxPollGaps> {
    return this.call('GET', `/poll-gaps${options.begin === true ? '?begin' : ''}`);
  }

  /** Adds rules after the existing ones. Rejects unknown operations, actions and fields. */
  async addFaults(faults: FaultRule[]): Promise<void> {
    await this.call('POST', '/faults', faults);
  }

  /** Removes all rules, including those from the options. */
  async clearFaults(): Promise<void> {
    await this.call('DELETE', '/faults');
  }

  /** Deletes all state and restores the faults from the options. */
  async reset(): Promise<void> {
    await this.call('POST', '/reset');
  }

  /** Returns the tasks with the status that a poll would return now. */
  tasks(): Promise<(SandboxTask & { shown: SandboxStatus })[]> {
    return this.call('GET', '/tasks');
  }

  /** Returns an invoice for everything that was accepted, with these errors. Rejects more errors than there are calls. */
  invoice(errors: InvoiceErrors = {}): Promise<SandboxInvoice> {
    return this.call('POST', '/invoice', errors);
  }

  /** Changes a task's fields. Rejects if the id is unknown. */
  async patchTask(id: string, patch: SandboxTaskPatch): Promise<void> {
    await this.call('PATCH', `/tasks/${encodeURIComponent(id)}`, patch);
  }

  /** Rotates the API keys: from now on, only these have access. */
  async setApiKeys(keys: readonly string[]): Promise<void> {
    await this.call('PUT', '/api-keys', keys);
  }

  /** Completes stalled replies and returns how many there were. */
  async releaseStalled(): Promise<number> {
    return (await this.call<{ released: number }>('POST', '/release')).released;
  }

  private async call<Result>(method: string, path: string, body?: unknown): Promise<Result> {
    const json =
      body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const reply = await fetch(`${this.adminUrl}${path}`, { method, ...json });
    if (!reply.ok) {
      const said = (await reply.json().catch(() => ({}))) as { error?: { message?: string } };
      const why = said.error?.message;
      throw new Error(
        `The sandbox answered ${reply.status} to ${method} ${path}.${why === undefined ? '' : ` ${why}`}`,
      );
    }
    return (await reply.json()) as Result;
  }
}
