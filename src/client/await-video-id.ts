import { createHash } from 'node:crypto';

/** Workflow id of the one wait for a task: derived from account and task id, never the raw id (architecture: Wait). */
export function awaitVideoWorkflowId(account: string, taskId: string): string {
  return `await-video/${account}/${createHash('sha256').update(taskId).digest('hex').slice(0, 32)}`;
}
