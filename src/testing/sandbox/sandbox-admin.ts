import { type SandboxCounters } from './counters';
import { type FaultRule, type SandboxOperation } from './fault-rule';
import { type SandboxPollGaps } from './poll-gaps';
import { type SandboxRequest } from './sandbox-request';
import { type SandboxStatus, type SandboxTask, type SandboxTaskPatch } from './sandbox-task';

/** Asks a running sandbox what it saw and tells it how to misbehave. Every method rejects when it cannot be reached. */
export class SandboxAdmin {
  constructor(private readonly adminUrl: string) {}

  /** Requests in order of arrival. */
  requests(filter: { operation?: SandboxOperation } = {}): Promise<SandboxRequest[]> {
    const query = filter.operation === undefined ? '' : `?operation=${filter.operation}`;
    return this.call('GET', `/requests${query}`);
  }

  /** @param options.prompts false leaves `acceptedByPromptHash` empty, which has an entry for every prompt */
  counters({ prompts = true }: { prompts?: boolean } = {}): Promise<SandboxCounters> {
    return this.call('GET', prompts ? '/counters' : '/counters?prompts=none');
  }

  /** Times between polls of one task; `begin` counts anew from here. */
  pollGaps(options: { begin?: boolean } = {}): Promise<SandboxPollGaps> {
    return this.call('GET', `/poll-gaps${options.begin === true ? '?begin' : ''}`);
  }

  async addFaults(faults: FaultRule[]): Promise<void> {
    await this.call('POST', '/faults', faults);
  }

  async clearFaults(): Promise<void> {
    await this.call('DELETE', '/faults');
  }

  /** Forgets everything, back to the faults of the options. */
  async reset(): Promise<void> {
    await this.call('POST', '/reset');
  }

  /** Tasks with the status that a poll would show now. */
  tasks(): Promise<(SandboxTask & { shown: SandboxStatus })[]> {
    return this.call('GET', '/tasks');
  }

  async patchTask(id: string, patch: SandboxTaskPatch): Promise<void> {
    await this.call('PATCH', `/tasks/${encodeURIComponent(id)}`, patch);
  }

  /** Lets stalled replies go on; the number of them. */
  async releaseStalled(): Promise<number> {
    return (await this.call<{ released: number }>('POST', '/release')).released;
  }

  private async call<Result>(method: string, path: string, body?: unknown): Promise<Result> {
    const json =
      body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const reply = await fetch(`${this.adminUrl}${path}`, { method, ...json });
    if (!reply.ok) throw new Error(`The sandbox answered ${reply.status} to ${method} ${path}.`);
    return (await reply.json()) as Result;
  }
}
