import { type Command } from 'commander';
import { type UnconfirmedDecision } from 'temporal-media';
import { given } from 'temporal-media/internal/domain/json';
import { type CommandContext, type CommonOptions, withCommonOptions, withServer } from '../shared/context';
import { type DecideOptions, withDecisionOptions } from '../shared/paid-options';

/** Adds `unconfirmed`, which lists unconfirmed paid calls, shows their evidence and records decisions. */
export function addUnconfirmedCommand(program: Command, context: CommandContext): void {
  const unconfirmed = program
    .command('unconfirmed')
    .description('list unconfirmed paid calls, show their evidence, and decide about them')
    .addHelpText('after', HELP);
  withCommonOptions(
    unconfirmed.command('list', { isDefault: true }).description('list the calls that need a decision'),
  ).action(async (options: CommonOptions) => {
    await withServer(context, options, async (connected) => {
      const { listUnconfirmed } = await import('./run.js');
      await listUnconfirmed(context, connected);
    });
  });
  withCommonOptions(
    unconfirmed
      .command('show')
      .description("show a call's evidence, earlier decisions and available decisions")
      .argument('<id>', 'creation key (the id passed at the start)'),
  ).action(async (id: string, options: CommonOptions) => {
    await withServer(context, options, async (connected) => {
      const { showUnconfirmed } = await import('./run.js');
      await showUnconfirmed(context, connected, id);
    });
  });
  withDecisionOptions(
    unconfirmed
      .command('adopt')
      .description('decide that the call was accepted as this task, and continue with it; costs nothing more')
      .argument('<id>', 'creation key (the id passed at the start)')
      .argument('<task>', "task id from the service's records"),
  ).action((id: string, task: string, options: DecideOptions) =>
    decided(context, 'adopt', id, options, task),
  );
  withDecisionOptions(
    unconfirmed
      .command('declare-lost')
      .description('decide that the call was not accepted; nothing more is sent under this id')
      .argument('<id>', 'creation key (the id passed at the start)'),
  ).action((id: string, options: DecideOptions) => decided(context, 'declareLost', id, options));
  withDecisionOptions(
    unconfirmed
      .command('resubmit')
      .description('authorize one more send, which may cost a second time')
      .argument('<id>', 'creation key (the id passed at the start)')
      .option('-y, --yes', 'accept the possible cost'),
  ).action((id: string, options: DecideOptions) => decided(context, 'resubmit', id, options));
}

const HELP = `
A create whose reply was lost is never sent again automatically. Use the evidence to search the service's task records,
then adopt the task, declare the call lost, or resubmit it. The decision is final and recorded in the workers' journal:
starting the same id again returns its result.

Examples:
  $ temporal-media unconfirmed
  $ temporal-media unconfirmed show sku-1
  $ temporal-media unconfirmed adopt sku-1 vid_0b1c --reason "found in the console"
  $ temporal-media unconfirmed resubmit sku-1 --reason "not in the console" --yes
`;

async function decided(
  context: CommandContext,
  decision: UnconfirmedDecision,
  creationKey: string,
  options: DecideOptions,
  taskId?: string,
): Promise<void> {
  await withServer(context, options, async (connected) => {
    const { decideUnconfirmed } = await import('./run.js');
    const { reason, by, send: sendId, yes = false } = options;
    await decideUnconfirmed(context, connected, {
      creationKey,
      ...given({ sendId, taskId }),
      decision,
      by,
      reason,
      yes,
    });
  });
}
