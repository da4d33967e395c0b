import { type RunningTemporalServer } from '../../src/testing/temporal-server';

/** Key of `globalThis` under which the set-up leaves the server for the tear-down: both run in one process. */
export const SERVER_SLOT = Symbol.for('temporal-media.test-server');

/** `globalThis` as set-up and tear-down see it. */
export type ServerSlot = Record<typeof SERVER_SLOT, RunningTemporalServer | undefined>;
