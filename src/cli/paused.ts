import { PAUSED } from '../domain/execution-status';
import { type Connected } from './connect';
import { type Report } from './report';
import { shellWord } from './text';

/** How to unpause a paused workflow. */
export function unpauseText(workflowId: string): string {
  return `It is paused in Temporal: \`temporal workflow unpause --workflow-id ${shellWord(workflowId)}\` lets it go on.`;
}

/** Warns when the workflow that a command has attached to is paused. */
export async function warnIfPaused({ client }: Connected, report: Report, workflowId: string): Promise<void> {
  const { status } = await client.workflow.getHandle(workflowId).describe();
  if (status.name === PAUSED) report.say(`${report.paint('warn', 'warning:')} ${unpauseText(workflowId)}`);
}
