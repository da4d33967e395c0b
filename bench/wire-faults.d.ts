import { type FaultRule } from '../packages/sandbox/src/faults';

export type WireFault = 'reset' | '502' | '500' | '504' | '429' | 'stall' | 'body stall' | 'body cut';

/** The eight faults, in the order of the table. */
export const FAULT_NAMES: readonly WireFault[];

/** What the sandbox does to the replies of the first `times` creates. @default 0, every one */
export function faultRule(name: WireFault, times?: number): FaultRule;
