import { userInfo } from 'node:os';
import { formatMoney } from '../../domain/price';
import { type UnconfirmedDecision, type UnconfirmedEntry } from '../../domain/unconfirmed-decision';
import { CliError, badInput } from '../cli-error';
import { type CommandContext } from '../command-context';
import { type Connected } from '../connect';
import { type Report } from '../report';
import { askTerminal, isTerminal, TERMINAL } from '../spend/ask-terminal';
import { commandFor } from '../shell-word';
import { readPages } from './read-pages';

export interface Decision {
  readonly creationKey: string;
  readonly decision: UnconfirmedDecision;
  readonly taskId?: string;
  readonly by: string | undefined;
  readonly reason: string;
  /** Agreed to what a resubmission may cost. */
  readonly yes: boolean;
}

/** Carries a decision out and says what follows. @throws CliError `decision_refused`, `spend_not_confirmed` */
export async function decide(
  context: CommandContext,
  connected: Connected,
  { creationKey, decision, taskId, by = userName(), reason, yes }: Decision,
): Promise<void> {
  const { report } = context;
  if (reason.trim() === '') throw badInput([{ field: '--reason', message: 'must say why.' }]);
  let open: UnconfirmedEntry | undefined;
  for await (const page of readPages(connected, { list: 'unconfirmed', creationKey }))
    open ??= page.unconfirmed[0];
  if (decision === 'resubmit' && open !== undefined && !yes) await confirmResubmit(report, open);
  if (open?.state === 'in_flight')
    report.say(
      `Its sender may still be alive until ${open.evidence.sendWindowEnd ?? 'unknown'}; this waits for it.`,
    );
  const owner = open?.workflowId ?? creationKey;
  const result = await connected.media
    .resolveUnconfirmed({ creationKey, decision, ...(taskId !== undefined && { taskId }), by, reason }, owner)
    .catch((error: unknown) => {
      if ((error as Error).name !== 'WorkflowFailedError') throw error;
      throw new CliError(
        'no_worker',
        'No worker carried the decision out in time. It may be in the journal all the same.',
        { hint: `Look first: ${commandFor('unconfirmed show', creationKey)}` },
      );
    });
  if (!result.resolved) {
    const type = result.reason === 'service_unavailable' ? 'service_unreachable' : 'decision_refused';
    throw new CliError(type, result.message, { data: result });
  }
  report.say(result.message);
  report.result(creationKey);
  report.reply({ ok: true, data: result });
}

/** A container often runs under a number that has no name. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    throw badInput([
      { field: '--by', message: 'must say who decides: the user of this process has no name.' },
    ]);
  }
}

/** It may be paid for twice: somebody agrees, or nothing happens. */
async function confirmResubmit(
  report: Report,
  { estimate, state, fetchable }: UnconfirmedEntry,
): Promise<void> {
  const cost = estimate === null ? 'an unknown amount' : `an estimated ${formatMoney(estimate)}`;
  const first = state === 'results_lost' ? 'was paid for' : 'may have been accepted';
  const question = `This may cost ${cost} once more, although the first send ${first}.`;
  if (!report.machine && isTerminal(TERMINAL) && (await askTerminal(`${question} Authorise it?`, TERMINAL)))
    return;
  throw new CliError('spend_not_confirmed', `${question} Nothing was authorised.`, {
    hint: fetchable
      ? 'Start the same request again under the same id instead: what is lost is fetched, and nothing is sent. Or agree at the terminal or with --yes.'
      : 'Agree at the terminal or with --yes, or adopt the task that the records of the service show.',
    data: { estimate },
  });
}
