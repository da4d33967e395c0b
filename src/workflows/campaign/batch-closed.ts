import { BATCH_CLOSED } from '../../domain/names';

/** Whether a paid call was refused because the budget of the batch is closed, or another run owns the batch. */
export function isBatchClosed(answer: object): boolean {
  return 'cause' in answer && answer.cause === BATCH_CLOSED;
}
