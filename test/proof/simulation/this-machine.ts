import type * as Machine from '../../../src/stores/files/this-machine';
import { currentTime } from './virtual-globals';
import { type Process, type VirtualTime } from './virtual-time';

/**
 * A placeholder for src/stores/files/this-machine in the simulation, whose processes are its own: what the operating
 * system says of real ones would take real time.
 * @module
 */

/** Processes that have named themselves, by name. */
const named = new WeakMap<VirtualTime, Map<string, Process>>();

export const ownProcess: typeof Machine.ownProcess = async () => {
  const time = currentTime();
  const { process } = time.current;
  named.set(time, (named.get(time) ?? new Map<string, Process>()).set(process.name, process));
  return { space: process.host, pid: 1, identity: process.name };
};

/** Only a process on the same host sees it. */
export const hasEnded: typeof Machine.hasEnded = async ({ space, identity }) => {
  const time = currentTime();
  return space === time.current.process.host && named.get(time)?.get(identity)?.dead === true;
};
