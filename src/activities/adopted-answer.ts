import { type SlotIntent } from '../domain/create-journal';
import { type CreatedVideo } from '../domain/paid-call';
import { DEFAULT_POLLING, type PollingProfile } from '../domain/polling-profile';
import { factsIn } from './intent-of';

/** A create that is known to have made this task, with the facts that its intent kept (C4.4b). */
export function adoptedAnswer(
  slot: SlotIntent,
  epoch: number,
  taskId: string,
  status: string,
  polling: PollingProfile = DEFAULT_POLLING,
): CreatedVideo {
  const { account, estimate } = slot;
  return {
    outcome: 'created',
    epoch,
    sent: true,
    account,
    estimate,
    status,
    warnings: ['The task was adopted: the reply of its create was never read.'],
    video: {
      taskId,
      ...factsIn(slot),
      polling,
      createdAt: slot.at,
      source: 'journal',
    },
  };
}
