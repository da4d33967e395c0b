import { PAUSED } from '../domain/execution-status';
import { type Connected } from './connect';
import { type Report } from './report';
import { shellWord } from './text';

/** What lets a paused workflow go on. */
export function unpauseText(workflowId: string): string {
  return `It is paused in Temporal: \`temporal workflow unpause --workflow-id ${shellWord(workflowId)}\` lets it go on.`;
}

/** Says that what a command has attached to stands still, and why. */
export async function warnIfPaused({ client }: Connected, report: Report, workflowId: string): Promise<void> {
  const { status } = await client.workflow.getHandle(workflowId).describe();
  if (status.name === PAUSED) report.say(`${report.paint('warn', 'warning:')} ${unpauseText(workflowId)}`);
}
