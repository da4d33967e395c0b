import { type Command } from 'commander';
import { type CommandContext, type CommonOptions, withCommonOptions } from '../command-context';

interface DecideOptions extends CommonOptions {
  readonly reason: string;
  readonly by?: string;
}

/** `campaign adopt` and `campaign declare-lost`: what a person decides about rows that were set aside. */
export function addCampaignRowCommands(campaign: Command, context: CommandContext): void {
  withDecisionOptions(
    campaign
      .command('adopt')
      .description('a row that was set aside was accepted as this task: go on with it; costs nothing more')
      .argument('<id>', 'id of the campaign')
      .argument('<row>', 'id of the row, or its key as the results show it')
      .argument('<task>', 'task id from the records of the service'),
  ).action(async (id: string, key: string, taskId: string, options: DecideOptions) => {
    const { decideRow } = await import('../campaign/decide-row.js');
    await decideRow(context, id, { key, taskId }, options);
  });
  withDecisionOptions(
    campaign
      .command('declare-lost')
      .description('nothing was accepted of a row that was set aside')
      .argument('<id>', 'id of the campaign')
      .argument('<row>', 'id of the row, or its key as the results show it'),
  ).action(async (id: string, key: string, options: DecideOptions) => {
    const { decideRow } = await import('../campaign/decide-row.js');
    await decideRow(context, id, { key }, options);
  });
}

function withDecisionOptions(command: Command): Command {
  return withCommonOptions(
    command
      .requiredOption('--reason <text>', 'why; kept in the journal')
      .option('--by <name>', 'who decides; kept in the journal (default: the user of this process)'),
  );
}
