import { type PaidOperation } from '../../../src/domain/request';
import { type ProofSize } from '../../support/proof';
import { type Cell } from './cell';
import { type Outcome } from './paid-kinds';

/** What the service saw of one schedule, and what its workflows returned. */
export interface Seen {
  /** Paid requests that reached the service. */
  readonly sends: number;
  readonly accepted: number;
  /** Outcome words in the order of the runs; one word when all of any number of runs returned it. */
  readonly outcomes: readonly string[] | string;
}

/** One fault at one moment of one paid operation, and what must come of it. */
export interface Schedule {
  readonly operation: PaidOperation;
  readonly name: string;
  /** Ids of the contract rules that it proves, as they stand in a title. */
  readonly rules?: string;
  /** `deep`: not with every change. */
  readonly size: ProofSize;
  /** Read by the sandbox out of the prompt. */
  readonly directives?: string;
  /** Authorisations to create: keys that the workflows of this schedule have. @default 1 */
  readonly keys?: number;
  readonly expected: Seen;
  /**
   * Commands of the last run: those of the golden history of its workflow, or those with one reconciliation.
   * @default not looked at
   */
  readonly commands?: 'golden' | 'reconciled';
  /** Does it, and returns what the workflows returned. */
  run(cell: Cell): Promise<readonly Outcome[]>;
}

export const OPERATIONS: readonly PaidOperation[] = ['create_video', 'generate_image', 'edit_image'];

/** Sent once, accepted once, finished. */
export const ONCE: Seen = { sends: 1, accepted: 1, outcomes: ['completed'] };
