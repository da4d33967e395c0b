import { isOpen } from '../../domain/execution-status';
import { type CampaignRowResult, type LedgerLine } from '../../domain/campaign/row';
import { latestResults } from '../../manifest/results';
import { badInput, CliError } from '../cli-error';
import { type CommandContext, type CommonOptions, effectiveConfig } from '../command-context';
import { type Connected } from '../connect';
import { openStore } from '../paid-options';
import { commandFor } from '../shell-word';
import { decide, userName } from '../unconfirmed/decide';
import { withServer } from '../with-server';
import { plainKey } from './campaign-text';
import { answerOrders, needWorker } from './order-campaign';

export interface DecideRowOptions extends CommonOptions {
  readonly by?: string;
  readonly reason: string;
}

export interface RowDecision {
  readonly key: string;
  /** Absent: nothing was accepted. */
  readonly taskId?: string;
}

/**
 * `campaign adopt` and `campaign declare-lost`: settles a row that was set aside. A campaign that runs goes on with it; in
 * one that has ended the decision is written into the journal, and `campaign resume` takes the row up. @throws CliError
 */
export async function decideRow(
  context: CommandContext,
  id: string,
  { key, taskId }: RowDecision,
  options: DecideRowOptions,
): Promise<void> {
  const { by = userName(), reason } = options;
  if (reason.trim() === '') throw badInput([{ field: '--reason', message: 'must say why.' }]);
  await withServer(context, options, async (connected) => {
    await needWorker(connected, id);
    const row = await findRow(context, connected, id, key, options);
    const { creationKey } = openAttempt(row, id);
    const { status } = await connected.media.findCampaign(id);
    if (isOpen(status)) {
      const facts = { key, creationKey, by, reason };
      const told =
        taskId === undefined
          ? await connected.media.orderCampaign(id, 'declareLost', facts)
          : await connected.media.orderCampaign(id, 'adopt', { ...facts, taskId });
      return answerOrders(context, id, [told]);
    }
    const decision = taskId === undefined ? 'declareLost' : 'adopt';
    await decide(context, connected, {
      creationKey,
      decision,
      by,
      reason,
      yes: false,
      ...(taskId !== undefined && { taskId }),
    });
    context.report.say(`The row is taken up by: ${commandFor('campaign resume', id)}`);
  });
}

async function findRow(
  context: CommandContext,
  { media }: Connected,
  id: string,
  key: string,
  options: CommonOptions,
): Promise<CampaignRowResult> {
  const store = openStore(effectiveConfig(context, options));
  for await (const row of latestResults(store, await media.campaignResults(id)))
    if (row.key === key) return row;
  const message = `The campaign ${id} has no result of a row ${plainKey(key)}.`;
  throw new CliError('not_found', message, {
    hint: 'A row is named by its id, or by its key as the results show it.',
  });
}

/** The attempt whose fate is unknown: the last one on the books. */
function openAttempt({ outcome, ledger, key }: CampaignRowResult, id: string): LedgerLine {
  const last = ledger.reduce<LedgerLine | undefined>(
    (before, line) => (before === undefined || line.attempt >= before.attempt ? line : before),
    undefined,
  );
  if (outcome === 'unconfirmed' && last !== undefined) return last;
  const message = `The row ${plainKey(key)} is ${outcome.replaceAll('_', ' ')}: nothing about it waits for a decision.`;
  throw new CliError('decision_refused', message, {
    hint: `How the rows stand: ${commandFor('campaign status', id)}`,
  });
}
