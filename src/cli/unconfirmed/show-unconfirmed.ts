import { type DecidedEntry, type UnconfirmedEntry } from '../../domain/unconfirmed-decision';
import { CliError } from '../cli-error';
import { type CommandContext } from '../command-context';
import { type Connected } from '../connect';
import { evidenceLines } from '../evidence-lines';
import { decisionLines } from './decision-lines';
import { readPages } from './read-pages';

/** Shows the evidence of one paid call of unknown fate, the decisions so far, and what can be done. */
export async function showUnconfirmed(
  context: CommandContext,
  connected: Connected,
  creationKey: string,
): Promise<void> {
  const { report } = context;
  const open: UnconfirmedEntry[] = [];
  const decided: DecidedEntry[] = [];
  for await (const page of readPages(connected, { list: 'unconfirmed', creationKey }))
    open.push(...page.unconfirmed);
  for await (const page of readPages(connected, { list: 'decided', creationKey }))
    decided.push(...page.decided);
  if (open.length === 0 && decided.length === 0) {
    throw new CliError(
      'not_found',
      `No paid call under the id ${creationKey} in namespace ${connected.namespace} has or had an unknown fate.`,
      { hint: '`temporal-media unconfirmed` lists those that wait for a decision.' },
    );
  }
  for (const { decision, by, at, reason, taskId } of decided)
    report.result(`decided: ${decision}${taskId === null ? '' : ` ${taskId}`} by ${by} at ${at}: ${reason}`);
  for (const entry of open) {
    report.result(`${entry.operation}: ${entry.state}`);
    for (const line of evidenceLines(entry.evidence)) report.result(`evidence ${line}`);
    if (entry.workflowId !== null) report.result(`workflow: ${entry.workflowId}`);
    if (entry.state === 'in_flight') {
      report.say('Its sender may still be alive: wait until the end of its send window.');
      continue;
    }
    const hasTask = entry.operation === 'create_video';
    const { estimate, fetchable } = entry;
    const isPaid = entry.state === 'results_lost';
    for (const line of decisionLines({ creationKey, hasTask, estimate, isPaid, fetchable })) report.say(line);
  }
  report.reply({ ok: true, data: { creationKey, unconfirmed: open, decided } });
}
