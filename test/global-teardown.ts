import { SERVER_SLOT, type ServerSlot } from './support/server-slot';

/** Stops the server that the set-up started; one that it only connected to goes on. */
async function globalTeardown(): Promise<void> {
  await (globalThis as unknown as ServerSlot)[SERVER_SLOT]?.stop();
}

export = globalTeardown;
