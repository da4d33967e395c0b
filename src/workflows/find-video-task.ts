import { FIND_VIDEO_TASK_KEYS, type FindVideoTaskInput, type FoundVideoTask } from '../domain/activities';
import { refuseUnknownKeys } from './inputs';
import { findVideoTaskActivity } from './proxies';

/**
 * Looks a task id up in the journal of a worker: account, kept facts and the workflow that owns it. Clients have
 * no journal and no base address, so they ask this way before they resume.
 */
export async function findVideoTask(input: FindVideoTaskInput): Promise<FoundVideoTask> {
  refuseUnknownKeys(input, FIND_VIDEO_TASK_KEYS);
  return findVideoTaskActivity({ summary: 'look the task up' })(input);
}
