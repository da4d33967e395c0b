import { currentTime } from './virtual-globals';
import { type Process, type VirtualTime } from './virtual-time';

/**
 * A placeholder for src/stores/files/this-machine in the simulation, whose processes are its own: what the operating
 * system says of real ones would take real time.
 * @module
 */

interface ProcessName {
  readonly space: string;
  readonly pid: number;
  readonly identity: string;
}

/** Processes that have named themselves, by name. */
const named = new WeakMap<VirtualTime, Map<string, Process>>();

export async function ownProcess(): Promise<ProcessName | undefined> {
  const time = currentTime();
  const { process } = time.current;
  named.set(time, (named.get(time) ?? new Map<string, Process>()).set(process.name, process));
  return { space: process.host, pid: 1, identity: process.name };
}

/** Only a process on the same host sees it. */
export async function hasEnded({ space, identity }: ProcessName): Promise<boolean> {
  const time = currentTime();
  return space === time.current.process.host && named.get(time)?.get(identity)?.dead === true;
}
