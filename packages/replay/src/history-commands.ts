import { type Payload } from '@temporalio/common';
import { type History } from '@temporalio/common/lib/proto-utils';
import { throwBug } from 'temporal-media/internal/domain/bug';
import { type RecordedCommand } from './replay-worker';

type HistoryEvent = NonNullable<History['events']>[number];

/** What an event or command does, in terms that both share. */
export interface CommandView {
  /** `activity`, `timer`, `child workflow`, … */
  readonly kind: string;
  /** Activity or child type, patch id or signal name; null if there is none. */
  readonly name: string | null;
  /** The author's summary: `image call 2 of 2`. */
  readonly summary: string | null;
  /** A timer's duration in milliseconds. */
  readonly ms?: number;
  /** A child's workflow id. */
  readonly id?: string;
}

/** An event caused by a command from workflow code. */
export interface CommandEvent extends CommandView {
  readonly eventId: number;
  /** The name that Temporal's tools use, such as `ActivityTaskScheduled`. */
  readonly eventType: string;
  /** Event id of the completed workflow task that produced it. */
  readonly task: number;
}

/** The kind for each attributes field, with a function that reads the name. */
const EVENTS: { readonly [attributes: string]: readonly [kind: string, name?: (of: Fields) => unknown] } = {
  activityTaskScheduledEventAttributes: ['activity', (of) => of['activityType']?.name],
  activityTaskCancelRequestedEventAttributes: ['cancellation of an activity'],
  timerStartedEventAttributes: ['timer'],
  timerCanceledEventAttributes: ['cancellation of a timer'],
  startChildWorkflowExecutionInitiatedEventAttributes: ['child workflow', (of) => of['workflowType']?.name],
  signalExternalWorkflowExecutionInitiatedEventAttributes: ['signal', (of) => of['signalName']],
  requestCancelExternalWorkflowExecutionInitiatedEventAttributes: ['cancellation of a workflow'],
  nexusOperationScheduledEventAttributes: ['Nexus operation', (of) => of['operation']],
  nexusOperationCancelRequestedEventAttributes: ['cancellation of a Nexus operation'],
  upsertWorkflowSearchAttributesEventAttributes: ['search attributes'],
  workflowPropertiesModifiedEventAttributes: ['memo'],
  workflowExecutionCompletedEventAttributes: ['end: completed'],
  workflowExecutionFailedEventAttributes: ['end: failed'],
  workflowExecutionCanceledEventAttributes: ['end: cancelled'],
  workflowExecutionContinuedAsNewEventAttributes: ['continue-as-new'],
};

/** The kind for each command field. */
const COMMANDS: { readonly [field: string]: string } = {
  scheduleActivity: 'activity',
  requestCancelActivity: 'cancellation of an activity',
  startTimer: 'timer',
  cancelTimer: 'cancellation of a timer',
  startChildWorkflowExecution: 'child workflow',
  signalExternalWorkflowExecution: 'signal',
  requestCancelExternalWorkflowExecution: 'cancellation of a workflow',
  cancelChildWorkflowExecution: 'cancellation of a workflow',
  scheduleNexusOperation: 'Nexus operation',
  requestCancelNexusOperation: 'cancellation of a Nexus operation',
  upsertWorkflowSearchAttributes: 'search attributes',
  modifyWorkflowProperties: 'memo',
  setPatchMarker: 'patch',
  completeWorkflowExecution: 'end: completed',
  failWorkflowExecution: 'end: failed',
  cancelWorkflowExecution: 'end: cancelled',
  continueAsNewWorkflowExecution: 'continue-as-new',
};

type Fields = Record<string, { readonly name?: unknown } | null | undefined>;

/** Returns the event as a command, or undefined if no workflow command caused it. */
export function commandEvent(event: HistoryEvent): CommandEvent | undefined {
  const [attributes, fields] =
    Object.entries(event).find(([name, value]) => name.endsWith('EventAttributes') && value != null) ?? [];
  const of = (fields ?? {}) as Fields;
  const common = {
    eventId: Number(event.eventId),
    eventType: typeNameOf(event),
    task: Number(of['workflowTaskCompletedEventId'] ?? 0),
    summary: summaryOf(event.userMetadata?.summary),
  };
  const marker = event.markerRecordedEventAttributes;
  if (marker != null)
    return marker.markerName === 'core_patch'
      ? { ...common, kind: 'patch', name: patchIdOf(marker.details?.['patch-data']?.payloads?.[0]) }
      : undefined;
  const row = attributes === undefined ? undefined : EVENTS[attributes];
  if (row === undefined) return undefined;
  const name = row[1]?.(of);
  const timeout = event.timerStartedEventAttributes?.startToFireTimeout;
  const child = event.startChildWorkflowExecutionInitiatedEventAttributes;
  return {
    ...common,
    kind: row[0],
    name: typeof name === 'string' ? name : null,
    ...(child?.workflowId && { id: child.workflowId }),
    ...(timeout != null && { ms: Number(timeout.seconds ?? 0) * 1000 + Number(timeout.nanos ?? 0) / 1e6 }),
  };
}

/** Returns an event type's name, such as `ActivityTaskScheduled`. The type's number would mean nothing to a reader. */
export function typeNameOf(event: HistoryEvent): string {
  const name = Object.entries(event).find(
    ([field, value]) => field.endsWith('EventAttributes') && value != null,
  )?.[0];
  if (name === undefined) return 'Unknown';
  const short = name.replace(/EventAttributes$/, '');
  return `${short[0]?.toUpperCase()}${short.slice(1)}`;
}

/**
 * Returns those commands of a workflow task that lead to an event, in order. A command that is scheduled and canceled
 * in the same task does not lead to one.
 */
export function lastingCommands(commands: readonly RecordedCommand[]): readonly RecordedCommand[] {
  const undone = new Set<RecordedCommand>();
  for (const [start, cancel] of UNDONE)
    for (const one of commands.filter(({ kind }) => kind === start)) {
      const other = commands.find(({ kind, seq }) => kind === cancel && seq === one.seq);
      if (other !== undefined) undone.add(one).add(other);
    }
  return commands.filter((one) => !undone.has(one) && Object.hasOwn(COMMANDS, one.kind));
}

const UNDONE = [
  ['startTimer', 'cancelTimer'],
  ['scheduleActivity', 'requestCancelActivity'],
  ['startChildWorkflowExecution', 'cancelChildWorkflowExecution'],
] as const;

export function commandView({ kind, name, id, summary, ms }: RecordedCommand): CommandView {
  return {
    kind: COMMANDS[kind] ?? kind,
    name,
    summary: summary === null ? null : textOf(summary),
    ...(ms !== null && { ms }),
    ...(kind === 'startChildWorkflowExecution' && id !== null && { id }),
  };
}

/** Whether a command matches this event in the fields that a replay compares. */
export function leadsTo(command: CommandView, event: CommandView): boolean {
  return (
    command.kind === event.kind &&
    (event.name === null || command.name === event.name) &&
    (event.id === undefined || command.id === event.id)
  );
}

function summaryOf(payload: Payload | null | undefined): string | null {
  return payload?.data == null ? null : textOf(payload.data);
}

function textOf(data: Uint8Array): string | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(data).toString('utf8'));
    return typeof value === 'string' ? value.slice(0, MOST_CHARACTERS) : null;
  } catch (error) {
    throwBug(error);
    return null;
  }
}

const MOST_CHARACTERS = 200;

function patchIdOf(payload: Payload | undefined): string | null {
  try {
    const value = JSON.parse(Buffer.from(payload?.data ?? []).toString('utf8')) as {
      readonly id?: unknown;
    } | null;
    return typeof value?.id === 'string' ? value.id : null;
  } catch (error) {
    throwBug(error);
    return null;
  }
}
