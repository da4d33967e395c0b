import { type ChildProcess } from 'node:child_process';
import { type RunningTemporalServer } from '../../packages/testing/src/temporal-server';

/** Key of `globalThis` under which the set-up leaves the server for the tear-down: both run in one process. */
export const SERVER_SLOT = Symbol.for('temporal-media.test-server');

/** `globalThis` as set-up and tear-down see it. */
export type ServerSlot = Record<typeof SERVER_SLOT, RunningTemporalServer | undefined>;

/** The same for the processes of sandboxes and commands. */
export const HOSTS_SLOT = Symbol.for('temporal-media.test-hosts');

export type HostsSlot = Record<typeof HOSTS_SLOT, readonly ChildProcess[] | undefined>;

/** The same for the servers of the stores: what stops them. */
export const STORES_SLOT = Symbol.for('temporal-media.test-stores');

export type StoresSlot = Record<typeof STORES_SLOT, (() => Promise<void>) | undefined>;
