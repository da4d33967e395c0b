import {
  type ImageOutcome,
  type ImageResultsLost,
  type Money,
  type Unconfirmed,
  type VideoOutcome,
} from 'temporal-media';
import { failureRow } from 'temporal-media/internal/domain/failure-table';
import { given } from 'temporal-media/internal/domain/json';
import { formatMoney } from 'temporal-media/internal/domain/money';
import { decisionLines, evidenceLines, type OpenCall } from '../unconfirmed/run';
import { type CommandContext } from './context';
import { issueText } from './errors';
import { errorType, EXIT, type ExitCode } from './exit-codes';
import { byOption } from './invalid-request';
import { type FailureReply, type LeftRunning } from './json-output';
import { type SavedResults } from './output-files';
import { statusLine } from './report';
import { commandFor } from './text';

interface OutcomeReport {
  /** True for `completed` and `still_running`, which are both successes (C3.4). */
  readonly ok: boolean;
  readonly exitCode: ExitCode;
  readonly error?: FailureReply;
  /** Text lines for people. */
  readonly lines: readonly string[];
}

/** Returns how to report an outcome, with type and hint from the failure table. */
export function reportOutcome(outcome: VideoOutcome | ImageOutcome): OutcomeReport {
  const row = failureRow(outcome);
  if (row === undefined) return { ok: true, exitCode: EXIT.done, lines: completedLines(outcome) };
  const { exitCode } = errorType(row.type);
  if (outcome.outcome === 'still_running') {
    const shown = outcome.progress === undefined ? '' : `, ${outcome.progress}%`;
    const line = `Still running (${outcome.lastStatus ?? 'no status yet'}${shown}): task ${outcome.video.taskId}.`;
    return {
      ok: true,
      exitCode,
      lines: [line, `Continue with: ${commandFor('resume', outcome.video.taskId)}`],
    };
  }
  const error = { type: row.type, message: outcomeMessage(outcome, row.meaning), hint: row.hint };
  return { ok: false, exitCode, error, lines: [`${row.type}: ${row.meaning}`, ...factLines(outcome)] };
}

/** Returns one sentence about an outcome: its message, or the meaning of its failure type. */
export function outcomeMessage(outcome: VideoOutcome | ImageOutcome, meaning: string): string {
  switch (outcome.outcome) {
    case 'failed':
      return outcome.error.message ?? meaning;
    case 'rejected': {
      const { field, allowed, message } = outcome;
      return field === undefined ? message : issueText(byOption({ field, message, ...given({ allowed }) }));
    }
    case 'content_unavailable':
    case 'task_unknown':
    case 'unconfirmed':
    case 'results_lost':
      return outcome.message;
    default:
      return meaning;
  }
}

function completedLines(outcome: VideoOutcome | ImageOutcome): string[] {
  if (outcome.outcome !== 'completed') return [];
  const { estimate, actual, currency } = outcome.billing;
  const expected =
    estimate === null ? 'no estimate' : `estimated cost ${formatMoney({ microUnits: estimate, currency })}`;
  const cost =
    actual === null ? expected : `${expected}, billed ${formatMoney({ microUnits: actual, currency })}`;
  const usage =
    outcome.billing.usage === undefined ? 'the service reported no usage' : 'the service reported its usage';
  const what = 'artifact' in outcome ? `task ${outcome.video.taskId}` : `${outcome.images.length} image(s)`;
  return [
    ...outcome.warnings.map((warning) => `warning: ${warning}`),
    `Completed: ${what}; ${cost}, ${usage}.`,
  ];
}

function openCall(outcome: Unconfirmed | ImageResultsLost): OpenCall {
  const { estimate, actual, currency } = outcome.billing;
  const inMoney = (microUnits: number | null): Money | null =>
    microUnits === null || currency === null ? null : { microUnits, currency };
  return {
    creationKey: outcome.creationKey,
    sendId: outcome.outcome === 'unconfirmed' ? outcome.evidence.sendId : null,
    // The evidence does not include the operation, but only a video create has a reference mode.
    hasTask: outcome.outcome === 'unconfirmed' && outcome.evidence.referenceMode !== null,
    estimate: inMoney(estimate),
    actual: inMoney(actual),
    isPaid: outcome.outcome === 'results_lost',
    fetchable: outcome.outcome === 'results_lost' && outcome.fetchable,
  };
}

/** Returns the facts that a person needs in order to act: the task, the evidence and the money. */
function factLines(outcome: VideoOutcome | ImageOutcome): string[] {
  const lines: string[] = [];
  if ('video' in outcome && outcome.video !== null) lines.push(`task: ${outcome.video.taskId}`);
  if (outcome.outcome === 'unconfirmed')
    lines.push(...evidenceLines(outcome.evidence).map((line) => `evidence ${line}`));
  if (outcome.outcome === 'rejected') {
    lines.push(...reasonLines(outcome));
    if (outcome.notBefore !== undefined) lines.push(`not before: ${outcome.notBefore}`);
  }
  const { state, actual, currency } = outcome.billing;
  const billed = actual === null ? '' : `, billed ${formatMoney({ microUnits: actual, currency })}`;
  lines.push(`billing: ${state}${billed}`);
  if (outcome.outcome === 'unconfirmed' || outcome.outcome === 'results_lost')
    lines.push(...decisionLines(openCall(outcome)));
  return lines;
}

/** Returns the service's message, code and HTTP status for a rejection or failure, if any. */
export function reasonLines(outcome: VideoOutcome | ImageOutcome): string[] {
  if (!('error' in outcome) || outcome.error === undefined) return [];
  const { error } = outcome;
  const httpStatus = outcome.outcome === 'rejected' ? outcome.httpStatus : undefined;
  const code = error.code === null ? [] : [`code ${error.code}`];
  const facts = [...code, ...(httpStatus === undefined ? [] : [`HTTP ${httpStatus}`])].join(', ');
  const words = [...(error.message === null ? [] : [error.message]), ...(facts === '' ? [] : [`(${facts})`])];
  return words.length === 0 ? [] : [`service message: ${words.join(' ')}`];
}

/** Prints an outcome as text, the paths of saved files and the JSON object, and sets the exit code. */
export function answerOutcome(
  context: CommandContext,
  outcome: VideoOutcome | ImageOutcome,
  workflowId: string,
  saved?: SavedResults,
): void {
  const { report } = context;
  const { ok, exitCode, error, lines } = reportOutcome(outcome);
  for (const line of lines) report.say(line);
  for (const file of saved?.files ?? []) report.result(file);
  context.exitCode = exitCode;
  const data = { ...outcome, workflowId, ...saved };
  if (error === undefined) report.reply({ ok, data });
  else report.fail(error, data);
}

/** Reports that `--wait-for` expired before the workflow ended, which is a success like `still_running`. */
export function answerLeft(context: CommandContext, left: LeftRunning, resumeHint: string): void {
  const { report } = context;
  const doing = left.state === null ? undefined : statusLine(left.state);
  const what = doing === undefined ? '' : ` (${doing})`;
  report.say(
    `Still running${what}: --wait-for has expired. The workflow keeps running; nothing was canceled.`,
  );
  report.say(`Continue with: ${resumeHint}`);
  context.exitCode = EXIT.stillRunning;
  report.reply({ ok: true, data: left });
}
