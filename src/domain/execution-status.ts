/** Temporal's status of an execution that an operator has paused; it continues when it is unpaused. */
export const PAUSED = 'PAUSED';

/** Whether an execution with this Temporal status has not ended. A paused one holds its id like any other. */
export function isOpen(status: string): boolean {
  return status === 'RUNNING' || status === PAUSED;
}
