/** Temporal's word for an execution that an operator has paused: it goes on when somebody lets it. */
export const PAUSED = 'PAUSED';

/** Whether an execution has not ended, by Temporal's word for its status: a paused one holds its id like any other. */
export function isOpen(status: string): boolean {
  return status === 'RUNNING' || status === PAUSED;
}
