import { situation } from '../domain/advice';
import { PAUSED } from '../domain/execution-status';
import { type Connected } from './connect';
import { type Report } from './report';
import { shellWord } from './text';

/** Warns when the workflow that a command has attached to is paused. */
export async function warnIfPaused({ client }: Connected, report: Report, workflowId: string): Promise<void> {
  const { status } = await client.workflow.getHandle(workflowId).describe();
  if (status.name === PAUSED)
    report.say(
      `${report.paint('warn', 'warning:')} ${situation('paused', { ID: workflowId }, shellWord).text}`,
    );
}
