import { type VideoTask, type WatchFacts } from 'temporal-media';
import { otherwise } from 'temporal-media/internal/domain/bug';
import { failureRow } from 'temporal-media/internal/domain/failure-table';
import { formatMoney, type Labels, labelTexts } from 'temporal-media/internal/domain/money';
import { isOpen } from 'temporal-media/internal/domain/names';
import { stateOf } from 'temporal-media/internal/domain/paid-log';
import { shellWord } from 'temporal-media/internal/domain/terminal-text';
import { existingJournal } from 'temporal-media/internal/stores/open-stores';
import { type CreateJournal } from 'temporal-media/stores';
import { type MediaConfig } from 'temporal-media/worker';
import {
  type CaseMoney,
  caseMoney,
  type ExecutionView,
  type OpenActivity,
  type OperatorPause,
  type OwnCall,
} from '../shared/case';
import { adviceOf } from '../shared/case-advice';
import { type Connected } from '../shared/connect';
import { CliError } from '../shared/errors';
import { gatherCase, type GatheredCase } from '../shared/gather-case';
import { outcomeMessage, reasonLines } from '../shared/outcome-report';
import { type LineStyle, type Paint, statusLine } from '../shared/report';
import { decidedText, evidenceLines } from '../unconfirmed/run';

/** A case, as shown by `status`. */
export interface VideoStatus extends GatheredCase {
  /** The charges. Null if nothing is known about a send. */
  readonly money: CaseMoney | null;
  /** Labels of the newest send. Null if none was recorded, or the journal is elsewhere. */
  readonly labels: Labels | null;
  /** One sentence that says what is safe to do. */
  readonly safe: string;
}

interface StatusOptions {
  /** Whether the service may be queried. @default true */
  readonly askService?: boolean;
  /** This machine's journal, in a process that reads many cases. @default opened for this case, and never closed */
  readonly journal?: CreateJournal | undefined;
}

/**
 * Collects what is known about an id. Undefined for an unknown id. @throws CliError `payload_unreadable` if unreadable
 * payloads might contain the id
 */
export async function videoStatus(
  connected: Connected,
  config: MediaConfig,
  id: string,
  { askService = true, journal }: StatusOptions = {},
): Promise<VideoStatus | undefined> {
  const local = journal ?? (await existingJournal(config).catch(otherwise(undefined)));
  const found = await gatherCase({ ...connected, journal: local, askService }, id);
  if (!('unread' in found)) {
    const { namespace } = connected;
    const { creationKey } = found;
    const log =
      creationKey === null
        ? undefined
        : await local?.read({ namespace, creationKey }).catch(otherwise(undefined));
    const { sends } = stateOf(log ?? []);
    const sent = sends.at(-1)?.sent;
    const labels = (sent?.kind === 'intent' ? sent.labels : undefined) ?? null;
    const money = caseMoney(found, sends);
    return { ...found, money, labels, safe: adviceOf(found, shellWord).text };
  }
  if (found.unread === 0) return undefined;
  throw new CliError(
    'payload_unreadable',
    `Cannot determine whether ${id} exists, because the payloads of ${found.unread} of the newest video workflows cannot be read here.`,
  );
}

/** Returns the text of `status`, one fact per line. The last line says what is safe to do. */
export function statusLines(status: VideoStatus, paint: Paint): string[] {
  const {
    workflow,
    activity,
    otherWorkflows,
    video,
    creationKey,
    state,
    outcome,
    service,
    decisions,
    money,
    calls,
    notes,
    earlierRuns,
  } = status;
  const lines: string[] = [];
  const add = (name: string, text: string | null | undefined, tone?: LineStyle): void => {
    if (text === null || text === undefined || text === '') return;
    const label = `${name}:`.padEnd(12);
    lines.push(`${tone === undefined ? label : paint(tone, label)} ${text}`);
  };
  add('Found by', status.foundBy.replace('_', ' '));
  if (workflow !== null) {
    add('Workflow', executionText(workflow));
    add('UI', workflow.url);
    add('Paused', workflow.pause && pauseText(workflow.pause));
    for (const one of workflow.pendingActivities) add('Activity', activityText(one));
    for (const call of calls) add('Paid call', callText(call));
  }
  if (activity !== null) {
    const { activityId, runId, status: now, startedAt, closedAt, nextAttemptAt } = activity;
    add(
      'Activity',
      `${activityId} (without a workflow, run ${runId}), ${executionTimes({ status: now, startedAt, closedAt })}`,
    );
    add('Attempt', activityText(activity));
    add('Next attempt', nextAttemptAt);
  }
  for (const other of otherWorkflows) add('Earlier', executionText(other));
  for (const runId of earlierRuns) add('Earlier', `run ${runId} with the same id`);
  if (video !== null) {
    add('Task', video.taskId);
    add('Account', video.account);
    add('Video', videoText(video));
  }
  add('Key', creationKey);
  add('Labels', labelTexts(status.labels ?? {}).join(', '));
  if (state !== null && outcome === null) {
    // A workflow that was closed externally still answers with its last state, but its scheduled times no longer apply.
    const goesOn = workflow === null || isOpen(workflow.status);
    add(goesOn ? 'State' : 'Last state', stateText(state));
    if (goesOn) add('Deadline', state.deadlineAt);
    add('Polls', pollText(status));
    if (goesOn) add('Next poll', state.nextPollAt);
  }
  if (outcome !== null) {
    const row = failureRow(outcome);
    add('Outcome', row?.type ?? outcome.outcome);
    if (row !== undefined)
      for (const line of [outcomeMessage(outcome, row.meaning), ...reasonLines(outcome)]) add('Reason', line);
    if (outcome.outcome === 'rejected') add('Not before', outcome.notBefore);
    if (outcome.outcome === 'unconfirmed')
      for (const line of evidenceLines(outcome.evidence)) add('Evidence', line);
    if (outcome.outcome === 'still_running') add('Last poll', lastPollText(outcome.lastError));
    if (outcome.outcome === 'content_unavailable') add('Kept until', state?.watch?.expiresAt);
  }
  if (money !== null) add('Billing', billingText(money));
  for (const entry of decisions) add('Decided', decidedText(entry));
  if (service !== null)
    add(
      'Service',
      service.known
        ? `says ${service.status}${service.progress === undefined ? '' : ` ${service.progress}%`} (HTTP ${service.httpStatus})`
        : `no record: ${service.error}${service.httpStatus === undefined ? '' : ` (HTTP ${service.httpStatus})`}`,
    );
  for (const note of notes) add('Note', note, 'warn');
  add('Safe to do', status.safe, 'good');
  return lines;
}

function executionText({ workflowId, runId, type, ...times }: ExecutionView): string {
  return `${workflowId} (${type}, run ${runId}), ${executionTimes(times)}`;
}

function executionTimes({
  status,
  startedAt,
  closedAt,
}: Pick<ExecutionView, 'status' | 'startedAt' | 'closedAt'>): string {
  const until = closedAt === null ? `since ${startedAt}` : `${startedAt} to ${closedAt}`;
  return `${status.toLowerCase().replaceAll('_', ' ')}, ${until}`;
}

/** Names a call by what `status` finds: a child by its id, an activity by its creation key. */
function callText({ type, id, creationKey, state }: OwnCall): string {
  if (!type.startsWith('media.') || creationKey === null) return `${id} (${type}), ${state}`;
  return `${creationKey} (${type}, activity ${id}), ${state}`;
}

function activityText({ type, attempt, pause, lastFailure }: OpenActivity): string {
  return [
    `${type}, attempt ${attempt}`,
    ...(pause === null
      ? []
      : [`${pause.isRequested ? 'pause requested' : 'paused'} ${pauseText(pause)}`.trimEnd()]),
    ...(lastFailure === null ? [] : [`last failure: ${lastFailure}`]),
  ].join(', ');
}

/** Says who has paused an execution, when and why, as far as the server reports it. */
function pauseText({ by, at, reason }: OperatorPause): string {
  const parts = [by && `by ${by}`, at && `at ${at}`].filter(Boolean).join(' ');
  return reason === null ? parts : `${parts}: ${reason}`;
}

function videoText({ model, durationSeconds, resolution, referenceMode, createdAt }: VideoTask): string {
  return [
    model ?? 'model unknown',
    durationSeconds === null ? undefined : `${durationSeconds} s`,
    resolution ?? undefined,
    referenceMode === null || referenceMode === 'none' ? undefined : `references ${referenceMode}`,
    createdAt === null ? undefined : `created ${createdAt}`,
  ]
    .filter((part) => part !== undefined)
    .join(', ');
}

function billingText({ state, estimate, actual }: CaseMoney): string {
  const expected = estimate === null || state === 'none' ? '' : `, estimate ${formatMoney(estimate)}`;
  const billed = actual === null ? '' : `, billed ${formatMoney(actual)}`;
  return `${state.replace('_', ' ')}${expected}${billed}`;
}

/** Describes the state without the task id, which has a separate line. */
function stateText(state: NonNullable<VideoStatus['state']>): string {
  return statusLine(state)?.replace(/^task \S+: /, '') ?? state.phase;
}

function lastPollText(lastError: WatchFacts['lastError']): string | null {
  if (lastError === undefined) return null;
  const { class: kind, httpStatus, reason } = lastError;
  const said = reason?.message ?? reason?.code;
  return `${kind}${httpStatus === undefined ? '' : ` (HTTP ${httpStatus})`}${said == null ? '' : `: ${said}`}`;
}

function pollText({ state }: VideoStatus): string | null {
  if (state?.taskId == null) return null;
  const { polls, lastPollAt, lastChangeAt, lastHttpStatus, consecutiveErrors } = state;
  const http = lastHttpStatus === null ? '' : ` (HTTP ${lastHttpStatus})`;
  const parts = [
    String(polls),
    lastPollAt === null ? undefined : `last ${lastPollAt}${http}`,
    lastChangeAt === null ? undefined : `last change ${lastChangeAt}`,
    consecutiveErrors > 0 ? `${consecutiveErrors} error(s) in a row` : undefined,
  ];
  return parts.filter((part) => part !== undefined).join(', ');
}
