import { userInfo } from 'node:os';
import {
  type DecidedEntry,
  type ImageOutcome,
  type Money,
  type UnconfirmedDecision,
  type UnconfirmedEntry,
  type VideoOutcome,
} from 'temporal-media';
import { throwBug } from 'temporal-media/internal/domain/bug';
import { given } from 'temporal-media/internal/domain/json';
import { formatMoney } from 'temporal-media/internal/domain/money';
import { readPages } from '../orphans/run';
import { askTerminal, isTerminal, TERMINAL } from '../shared/confirm';
import { type Connected } from '../shared/connect';
import { type CommandContext } from '../shared/context';
import { badInput, CliError } from '../shared/errors';
import { textTable } from '../shared/progress-view';
import { type Report } from '../shared/report';
import { commandFor, idArgument, shellWord } from '../shared/text';

type Evidence = Extract<VideoOutcome | ImageOutcome, { outcome: 'unconfirmed' }>['evidence'];

/** Returns `name: value` for each known fact about an unconfirmed create, which a person uses to find the task. */
export function evidenceLines(evidence: Evidence): string[] {
  const lines: string[] = [];
  for (const [name, value] of Object.entries<string | number | object | null>({ ...evidence })) {
    if (value === null || (typeof value === 'object' && Object.keys(value).length === 0)) continue;
    lines.push(`${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  }
  return lines;
}

/** Describes who decided what about an unconfirmed call, when and why. */
export function decidedText({ decision, taskId, by, at, reason }: DecidedEntry): string {
  return `${decision}${taskId === null ? '' : ` ${taskId}`} by ${by} at ${at}: ${reason}`;
}

interface Decision {
  readonly creationKey: string;
  /** Undefined means the send that is currently unconfirmed. */
  readonly sendId?: string;
  readonly decision: UnconfirmedDecision;
  readonly taskId?: string;
  readonly by: string | undefined;
  readonly reason: string;
  /** Whether a person has accepted the possible cost of a resubmission. */
  readonly yes: boolean;
}

/** Carries out a decision and prints the result. @throws CliError `decision_refused`, `spend_not_confirmed` */
export async function decideUnconfirmed(
  context: CommandContext,
  connected: Connected,
  { creationKey, sendId, decision, taskId, by = userName(), reason, yes }: Decision,
): Promise<void> {
  const { report } = context;
  if (reason.trim() === '') throw badInput([{ field: '--reason', message: 'must not be empty.' }]);
  const entries: UnconfirmedEntry[] = [];
  for await (const page of readPages(connected, { list: 'unconfirmed', creationKey }))
    entries.push(...page.unconfirmed);
  const [first] = entries;
  const open = sendId === undefined ? first : entries.find(({ evidence }) => evidence.sendId === sendId);
  if (decision === 'resubmit' && open !== undefined && !yes) await confirmResubmit(report, open);
  if (open?.state === 'in_flight')
    report.say(
      `Its sender may still be running until ${open.evidence.sendWindowEnd ?? 'an unknown time'}. This command waits for it.`,
    );
  const owner = (open ?? first)?.workflowId ?? creationKey;
  const result = await connected.media
    .resolveUnconfirmed(
      {
        creationKey,
        ...given({ sendId: sendId ?? open?.evidence.sendId ?? undefined, taskId }),
        decision,
        by,
        reason,
      },
      owner,
    )
    .catch((error: unknown) => {
      if ((error as Error).name !== 'WorkflowFailedError') throw error;
      throw new CliError(
        'no_worker',
        'No worker confirmed the decision in time. It may already be in the journal.',
        { hint: `Before you repeat it, check: ${commandFor('unconfirmed show', creationKey)}` },
      );
    });
  if (!result.resolved) {
    const type = result.reason === 'service_unavailable' ? 'service_unreachable' : 'decision_refused';
    throw new CliError(type, result.message, { data: result });
  }
  report.say(result.message);
  if (decision === 'declareLost' && open?.actual != null)
    report.say(`Its bill of ${formatMoney(open.actual)} still counts in budgets, limits and reports.`);
  report.result(creationKey);
  report.reply({ ok: true, data: result });
}

/** Returns the user's name. @throws CliError if the user id has no name, as in many containers */
export function userName(): string {
  try {
    return userInfo().username;
  } catch (error) {
    throwBug(error);
    throw badInput([{ field: '--by', message: 'is required, because the current user has no name.' }]);
  }
}

/** Confirms a resubmission, because it may be billed twice. */
async function confirmResubmit(
  report: Report,
  { estimate, actual, state, fetchable }: UnconfirmedEntry,
): Promise<void> {
  const cost = estimate === null ? 'unknown amount' : `estimated ${formatMoney(estimate)}`;
  const isPaid = state === 'results_lost';
  const unsure = isPaid ? 'was paid for' : 'may have been accepted';
  const billed = billedText({ actual, isPaid });
  const fate = billed === undefined ? unsure : `was billed ${billed}`;
  const question = `This may cost another ${cost}, although the first send ${fate}.`;
  if (!report.machine && isTerminal(TERMINAL) && (await askTerminal(`${question} Authorize it?`, TERMINAL)))
    return;
  throw new CliError('spend_not_confirmed', `${question} Nothing was authorized.`, {
    hint: fetchable
      ? 'Instead, start the same request again under the same id: the lost results are fetched, and nothing is sent. To resubmit anyway, confirm at the prompt or with --yes.'
      : "Confirm at the terminal or with --yes, or adopt the task from the service's records.",
    data: { estimate },
  });
}

/** A paid call that needs a decision, with the facts that its commands need. */
export interface OpenCall {
  readonly creationKey: string;
  /** The send whose evidence is shown. Null if unknown here. */
  readonly sendId: string | null;
  /** Whether the call created a task that can be adopted. Image calls do not create tasks. */
  readonly hasTask: boolean;
  readonly estimate: Money | null;
  /** What was billed for the send. Null without a bill. */
  readonly actual: Money | null;
  /** Whether the call was paid for but its results are lost. Such a call was certainly accepted. */
  readonly isPaid: boolean;
  /** Whether starting the same id again fetches the lost results without sending anything. */
  readonly fetchable: boolean;
}

/**
 * Returns the commands that settle such a call, each with its possible cost. The command that bought the call is listed
 * only if it is known to fetch the results without sending anything, and it is then the first. Otherwise, running it
 * again might cost twice as much.
 */
export function decisionLines(call: OpenCall): string[] {
  const { creationKey, sendId, hasTask, estimate, isPaid } = call;
  const billed = billedText(call);
  const cost = estimate === null ? 'an unknown amount' : `an estimated ${formatMoney(estimate)}`;
  const id = idArgument(creationKey);
  const send = sendId === null ? '' : ` ${shellWord(`--send=${sendId}`)}`;
  const command = (words: string): string => `  temporal-media unconfirmed ${words}`;
  return [
    ...firstLines(call, billed),
    ...(hasTask
      ? [
          `${command(`adopt --reason WHY${send} ${id} TASK`)}`,
          '      it was accepted as TASK; costs nothing more',
        ]
      : []),
    command(`declare-lost --reason WHY${send} ${id}`),
    `      ${lossOf(call)}, and nothing more is sent under this id`,
    command(`resubmit --reason WHY${send} ${id}`),
    isPaid || billed !== undefined
      ? `      send it again; costs ${cost} in addition to ${billed ?? 'the paid call'}`
      : `      send it again; costs ${cost}, or twice that if the first was accepted after all`,
  ];
}

/**
 * Returns what was billed for a send. A bill of 0 or a credit is not a sign that an unconfirmed send was accepted, so it
 * is left out.
 */
function billedText({ actual, isPaid }: Pick<OpenCall, 'actual' | 'isPaid'>): string | undefined {
  return actual === null || (!isPaid && actual.microUnits <= 0) ? undefined : formatMoney(actual);
}

function lossOf(call: OpenCall): string {
  const { isPaid, actual } = call;
  if (actual === null)
    return isPaid ? 'give up its results; you still pay for it' : 'it was not accepted; costs nothing';
  const loss = billedText(call) === undefined ? 'it was not accepted' : 'give it up';
  return `${loss}; its bill of ${formatMoney(actual)} counts`;
}

function firstLines({ isPaid, fetchable }: OpenCall, billed: string | undefined): string[] {
  const decide = "Use the evidence to search the service's task records, then decide:";
  if (!isPaid && billed === undefined) return [decide];
  if (!isPaid) return [`${billed} was billed for this send, so the service probably accepted it.`, decide];
  if (!fetchable) return ['The service replied and the call is paid for, but its results are lost. Decide:'];
  return [
    'The service replied and the call is paid for, but its results are lost. Fix the cause, then start the same request',
    "again under the same id. As long as the service's URLs work, the results are fetched and nothing is sent.",
    'Decide only if they are permanently lost:',
  ];
}

/** Lists the namespace's unconfirmed paid calls. */
export async function listUnconfirmed(context: CommandContext, connected: Connected): Promise<void> {
  const { report } = context;
  const found: UnconfirmedEntry[] = [];
  let scanned = 0;
  for await (const page of readPages(connected, { list: 'unconfirmed' })) {
    found.push(...page.unconfirmed);
    scanned += page.scanned;
  }
  if (found.length > 0) {
    const rows = found.map((entry) => [
      entry.creationKey,
      entry.state,
      entry.operation,
      entry.evidence.model ?? '',
      entry.evidence.intentAt ?? '',
      entry.evidence.cause,
    ]);
    for (const line of textTable([['ID', 'STATE', 'OPERATION', 'MODEL', 'SENT', 'CAUSE'], ...rows]))
      report.result(line);
    const example = found[0]?.creationKey;
    if (example !== undefined)
      report.say(
        `To show the evidence and the available decisions, run: ${commandFor('unconfirmed show', example)}`,
      );
  } else {
    report.say(`No calls need a decision. Checked ${scanned} creation keys in the journal.`);
  }
  report.reply({ ok: true, data: { unconfirmed: found, scanned } });
}

/** Shows an unconfirmed call's evidence, earlier decisions and available commands. */
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
      `No paid call with the id ${creationKey} in namespace ${connected.namespace} is or was unconfirmed.`,
      { hint: '`temporal-media unconfirmed` lists the calls that need a decision.' },
    );
  }
  for (const entry of decided) report.result(`decided: ${decidedText(entry)}`);
  for (const entry of open) {
    report.result(`${entry.operation}: ${entry.state}`);
    for (const line of evidenceLines(entry.evidence)) report.result(`evidence ${line}`);
    if (entry.workflowId !== null) report.result(`workflow: ${entry.workflowId}`);
    if (entry.state === 'in_flight') {
      report.say('Its sender may still be running. Wait until its send window has ended.');
      continue;
    }
    const hasTask = entry.operation === 'create_video';
    const { estimate, actual, fetchable } = entry;
    const { sendId } = entry.evidence;
    const isPaid = entry.state === 'results_lost';
    for (const line of decisionLines({ creationKey, sendId, hasTask, estimate, actual, isPaid, fetchable }))
      report.say(line);
  }
  report.reply({ ok: true, data: { creationKey, unconfirmed: open, decided } });
}
