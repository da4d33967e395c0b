import {
  HOSTS_SLOT,
  type HostsSlot,
  SERVER_SLOT,
  type ServerSlot,
  STORES_SLOT,
  type StoresSlot,
} from './support/server-slot';

/** Stops what the set-up started; a server that it only connected to goes on. */
async function globalTeardown(): Promise<void> {
  await (globalThis as unknown as ServerSlot)[SERVER_SLOT]?.stop();
  await (globalThis as unknown as StoresSlot)[STORES_SLOT]?.();
  for (const host of (globalThis as unknown as HostsSlot)[HOSTS_SLOT] ?? []) host.kill();
}

export = globalTeardown;
