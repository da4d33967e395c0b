import { type History } from '@temporalio/common/lib/proto-utils';
import { ACTIVITY, RETRY_LATER } from 'temporal-media/internal/domain/names';
import { type LoadedRun, type PendingActivity } from '../loaded-history';
import { decoded, failureFacts, type FailureFacts, firstOf } from './failure-facts';
import { TaskReader, type WorkflowTask } from './workflow-tasks';

type Event = NonNullable<History['events']>[number];

/** What the events in an operation are about. */
export type OperationKind =
  | 'start'
  | 'activity'
  | 'timer'
  | 'child'
  | 'signal'
  | 'sent_signal'
  | 'update'
  | 'cancel_requested'
  | 'task_failure'
  | 'reset'
  | 'attributes'
  | 'marker'
  | 'event'
  | 'end';

/** How an operation or its run ended. */
export type OperationEnd =
  | 'open'
  | 'completed'
  | 'failed'
  | 'timed_out'
  | 'cancelled'
  | 'terminated'
  | 'fired'
  /** Still open when its run ended. */
  | 'dropped'
  | 'continued_as_new';

/**
 * Events of one run that belong together: an activity from scheduling to end, a timer, a child. A workflow task belongs
 * to the operation that caused it.
 */
export interface Operation {
  readonly run: number;
  readonly kind: OperationKind;
  /** Activity or workflow type, or signal or Update name; `''` if there is none. */
  readonly name: string;
  readonly summary: string | null;
  /** Event ids. */
  readonly ids: number[];
  /** Milliseconds since 1970. */
  readonly at: number;
  /** When a worker started the last attempt; null if none has. */
  startedAt: number | null;
  /** Null while it is open. */
  endedAt: number | null;
  /** Time of the last event; for an open operation, when the server was queried. */
  until: number;
  attempt: number;
  readonly input: unknown;
  result: unknown;
  end: OperationEnd;
  failure: FailureFacts | null;
  /** Why the attempt before the last one failed. */
  lastFailure: FailureFacts | null;
  /** For an open activity that is not running: the end of the previous attempt, and the earliest start of the next. */
  offered: { readonly triedUntil: number | null; readonly from: number } | null;
  /** Event id of the workflow task that issued the command; 0 if there is none. */
  readonly command: number;
  /** The workflow that was started or signaled. */
  readonly target: { readonly workflowId: string; readonly runId: string } | null;
  readonly event: Event;
}

export interface RunOperations {
  readonly run: LoadedRun;
  readonly operations: readonly Operation[];
  readonly tasks: readonly WorkflowTask[];
  readonly firstAt: number | null;
  readonly lastAt: number | null;
  readonly events: number;
}

/** Converts an int64. The SDK decodes it as an object whose string form is the number. */
const numberOfLong = (value: unknown): number => Number(value ?? 0);

export function eventId(event: Event): number {
  return numberOfLong(event.eventId);
}

/** Returns an event's time in milliseconds since 1970. */
export function eventTime({ eventTime: time }: Event): number {
  return numberOfLong(time?.seconds) * 1000 + Math.floor((time?.nanos ?? 0) / 1e6);
}

/** Groups one run's events into operations. */
export function operationsOf(run: LoadedRun, index: number): RunOperations {
  const events = run.history.events ?? [];
  const reader = new RunReader(index);
  for (const event of events) reader.read(event);
  reader.dropOpen();
  reader.addPending(run.pending ?? [], run.readAt ?? 0);
  return {
    run,
    operations: reader.operations,
    tasks: reader.tasks.tasks,
    firstAt: events[0] === undefined ? null : eventTime(events[0]),
    lastAt: events.length === 0 ? null : eventTime(events[events.length - 1] as Event),
    events: events.length,
  };
}

class RunReader {
  readonly operations: Operation[] = [];
  readonly tasks = new TaskReader();
  /** Operations by the id of their first event. */
  private readonly begun = new Map<number, Operation>();
  private readonly updates = new Map<string, Operation>();
  private last: Operation | undefined;

  constructor(private readonly run: number) {}

  read(event: Event): void {
    if (this.readTask(event) || this.readBegin(event) || this.readGoOn(event)) return;
    this.readMoment(event);
  }

  /** Operations still open when a run ends do not continue in that run. */
  dropOpen(): void {
    const end = this.operations.findLast(({ kind }) => kind === 'end');
    if (end === undefined) return;
    for (const operation of this.operations)
      if (operation.end === 'open') Object.assign(operation, { end: 'dropped', endedAt: end.at });
  }

  /** Adds the server's data about open activities. An open operation lasts at least until the history was read. */
  addPending(pending: readonly PendingActivity[], readAt: number): void {
    for (const operation of this.operations)
      if (operation.end === 'open') operation.until = Math.max(operation.until, readAt);
    for (const { activityId, attempt, startedAt, triedUntil, offeredAt, lastFailure } of pending) {
      const operation = this.operations.find(
        ({ end, event }) =>
          end === 'open' && event.activityTaskScheduledEventAttributes?.activityId === activityId,
      );
      if (operation === undefined || isWatched(operation, lastFailure)) continue;
      const offered = startedAt === null ? { triedUntil, from: offeredAt ?? operation.at } : null;
      Object.assign(operation, { attempt, startedAt, offered, lastFailure: failureFacts(lastFailure) });
    }
  }

  private begin(event: Event, given: Partial<Operation> & Pick<Operation, 'kind'>): Operation {
    const at = eventTime(event);
    const operation: Operation = {
      run: this.run,
      name: '',
      ids: [eventId(event)],
      at,
      startedAt: null,
      endedAt: null,
      until: at,
      attempt: 0,
      input: undefined,
      result: undefined,
      end: 'open',
      failure: null,
      lastFailure: null,
      offered: null,
      command: 0,
      target: null,
      event,
      ...given,
      summary: summaryOf(event),
    };
    this.operations.push(operation);
    this.begun.set(eventId(event), operation);
    this.last = operation;
    return operation;
  }

  private moment(event: Event, given: Partial<Operation> & Pick<Operation, 'kind'>): true {
    const at = eventTime(event);
    this.begin(event, { startedAt: at, endedAt: at, end: 'completed', ...given });
    return true;
  }

  private goOn(event: Event, begun: unknown, given: Partial<Operation> = {}): true {
    return this.addTo(this.begun.get(numberOfLong(begun)), event, given);
  }

  /** An event whose operation is not in this history becomes a separate operation. */
  private addTo(operation: Operation | undefined, event: Event, given: Partial<Operation>): true {
    if (operation === undefined) return this.moment(event, { kind: 'event', name: eventName(event) });
    const at = eventTime(event);
    operation.ids.push(eventId(event));
    Object.assign(operation, given, { until: at });
    if (given.end !== undefined) operation.endedAt = at;
    this.last = operation;
    return true;
  }

  private readTask(event: Event): boolean {
    if (!this.tasks.read(event, eventTime(event))) return false;
    if (event.workflowTaskFailedEventAttributes) {
      const { failure, newRunId, baseRunId } = event.workflowTaskFailedEventAttributes;
      const target = { workflowId: '', runId: baseRunId ?? '' };
      return newRunId
        ? this.moment(event, { kind: 'reset', target })
        : this.moment(event, { kind: 'task_failure', end: 'failed', failure: failureFacts(failure) });
    }
    if (event.workflowTaskTimedOutEventAttributes)
      return this.moment(event, { kind: 'task_failure', end: 'timed_out' });
    if (this.last === undefined) return this.moment(event, { kind: 'event', name: eventName(event) });
    this.last.ids.push(eventId(event));
    return true;
  }

  private readBegin(event: Event): boolean {
    if (event.activityTaskScheduledEventAttributes) {
      const {
        activityType,
        input,
        workflowTaskCompletedEventId: command,
      } = event.activityTaskScheduledEventAttributes;
      const name = activityType?.name ?? '';
      this.begin(event, { kind: 'activity', name, input: firstOf(input), command: numberOfLong(command) });
    } else if (event.timerStartedEventAttributes) {
      const { workflowTaskCompletedEventId: command } = event.timerStartedEventAttributes;
      this.begin(event, { kind: 'timer', command: numberOfLong(command) });
    } else if (event.startChildWorkflowExecutionInitiatedEventAttributes) {
      const started = event.startChildWorkflowExecutionInitiatedEventAttributes;
      this.begin(event, {
        kind: 'child',
        name: started.workflowType?.name ?? '',
        input: firstOf(started.input),
        command: numberOfLong(started.workflowTaskCompletedEventId),
        target: { workflowId: started.workflowId ?? '', runId: '' },
      });
    } else if (event.signalExternalWorkflowExecutionInitiatedEventAttributes) {
      const sent = event.signalExternalWorkflowExecutionInitiatedEventAttributes;
      this.begin(event, {
        kind: 'sent_signal',
        name: sent.signalName ?? '',
        input: firstOf(sent.input),
        command: numberOfLong(sent.workflowTaskCompletedEventId),
        target: { workflowId: sent.workflowExecution?.workflowId ?? '', runId: '' },
      });
    } else if (event.workflowExecutionUpdateAcceptedEventAttributes) {
      const { acceptedRequest, protocolInstanceId } = event.workflowExecutionUpdateAcceptedEventAttributes;
      const { name, args } = acceptedRequest?.input ?? {};
      const input = (args?.payloads ?? []).map((payload) => decoded(payload));
      const update = this.begin(event, { kind: 'update', name: name ?? '', input });
      this.updates.set(acceptedRequest?.meta?.updateId ?? protocolInstanceId ?? '', update);
    } else return false;
    return true;
  }

  private readGoOn(event: Event): boolean {
    const at = eventTime(event);
    if (event.activityTaskStartedEventAttributes) {
      const { scheduledEventId, attempt, lastFailure } = event.activityTaskStartedEventAttributes;
      const started = { startedAt: at, attempt: attempt ?? 1, lastFailure: failureFacts(lastFailure) };
      const activity = this.begun.get(numberOfLong(scheduledEventId));
      return this.addTo(activity, event, isWatched(activity, lastFailure) ? {} : started);
    }
    if (event.activityTaskCompletedEventAttributes) {
      const { scheduledEventId, result } = event.activityTaskCompletedEventAttributes;
      return this.goOn(event, scheduledEventId, { end: 'completed', result: firstOf(result) });
    }
    if (event.activityTaskFailedEventAttributes) {
      const { scheduledEventId, failure } = event.activityTaskFailedEventAttributes;
      return this.goOn(event, scheduledEventId, { end: 'failed', failure: failureFacts(failure) });
    }
    if (event.activityTaskTimedOutEventAttributes) {
      const { scheduledEventId, failure } = event.activityTaskTimedOutEventAttributes;
      return this.goOn(event, scheduledEventId, { end: 'timed_out', failure: failureFacts(failure) });
    }
    if (event.activityTaskCancelRequestedEventAttributes)
      return this.goOn(event, event.activityTaskCancelRequestedEventAttributes.scheduledEventId);
    if (event.activityTaskCanceledEventAttributes)
      return this.goOn(event, event.activityTaskCanceledEventAttributes.scheduledEventId, {
        end: 'cancelled',
      });
    const ends = [
      [event.timerFiredEventAttributes?.startedEventId, 'fired'],
      [event.timerCanceledEventAttributes?.startedEventId, 'cancelled'],
      [event.externalWorkflowExecutionSignaledEventAttributes?.initiatedEventId, 'completed'],
      [event.signalExternalWorkflowExecutionFailedEventAttributes?.initiatedEventId, 'failed'],
    ] as const;
    for (const [begun, end] of ends) if (begun) return this.goOn(event, begun, { end });
    if (event.workflowExecutionUpdateCompletedEventAttributes) {
      const { meta, outcome } = event.workflowExecutionUpdateCompletedEventAttributes;
      const failed = failureFacts(outcome?.failure);
      return this.addTo(this.updates.get(meta?.updateId ?? ''), event, {
        end: failed === null ? 'completed' : 'failed',
        result: firstOf(outcome?.success),
        failure: failed,
      });
    }
    return this.readChild(event);
  }

  private readChild(event: Event): boolean {
    if (event.childWorkflowExecutionStartedEventAttributes) {
      const { initiatedEventId, workflowExecution } = event.childWorkflowExecutionStartedEventAttributes;
      const { workflowId, runId } = workflowExecution ?? {};
      const target = { workflowId: workflowId ?? '', runId: runId ?? '' };
      return this.goOn(event, initiatedEventId, { startedAt: eventTime(event), target });
    }
    if (event.childWorkflowExecutionCompletedEventAttributes) {
      const { initiatedEventId, result } = event.childWorkflowExecutionCompletedEventAttributes;
      return this.goOn(event, initiatedEventId, { end: 'completed', result: firstOf(result) });
    }
    const failed =
      event.childWorkflowExecutionFailedEventAttributes ??
      event.startChildWorkflowExecutionFailedEventAttributes;
    if (failed)
      return this.goOn(event, failed.initiatedEventId, {
        end: 'failed',
        failure: 'failure' in failed ? failureFacts(failed.failure) : null,
      });
    const other = [
      [event.childWorkflowExecutionCanceledEventAttributes, 'cancelled'],
      [event.childWorkflowExecutionTerminatedEventAttributes, 'terminated'],
      [event.childWorkflowExecutionTimedOutEventAttributes, 'timed_out'],
    ] as const;
    for (const [attributes, end] of other)
      if (attributes) return this.goOn(event, attributes.initiatedEventId, { end });
    return false;
  }

  private readMoment(event: Event): boolean {
    if (event.workflowExecutionStartedEventAttributes) {
      const { workflowType, input } = event.workflowExecutionStartedEventAttributes;
      return this.moment(event, { kind: 'start', name: workflowType?.name ?? '', input: firstOf(input) });
    }
    if (event.workflowExecutionSignaledEventAttributes) {
      const { signalName, input } = event.workflowExecutionSignaledEventAttributes;
      return this.moment(event, { kind: 'signal', name: signalName ?? '', input: firstOf(input) });
    }
    if (event.workflowExecutionCancelRequestedEventAttributes) {
      const from = event.workflowExecutionCancelRequestedEventAttributes.externalWorkflowExecution;
      const target = from?.workflowId ? { workflowId: from.workflowId, runId: from.runId ?? '' } : null;
      return this.moment(event, { kind: 'cancel_requested', target });
    }
    if (
      event.upsertWorkflowSearchAttributesEventAttributes ||
      event.workflowPropertiesModifiedEventAttributes
    )
      return this.moment(event, { kind: 'attributes' });
    if (event.markerRecordedEventAttributes)
      return this.moment(event, {
        kind: 'marker',
        name: event.markerRecordedEventAttributes.markerName ?? '',
      });
    return this.readEnd(event) || this.moment(event, { kind: 'event', name: eventName(event) });
  }

  private readEnd(event: Event): boolean {
    if (event.workflowExecutionCompletedEventAttributes) {
      const result = firstOf(event.workflowExecutionCompletedEventAttributes.result);
      return this.moment(event, { kind: 'end', end: 'completed', result });
    }
    if (event.workflowExecutionContinuedAsNewEventAttributes) {
      const runId = event.workflowExecutionContinuedAsNewEventAttributes.newExecutionRunId ?? '';
      const target = { workflowId: '', runId };
      return this.moment(event, { kind: 'end', end: 'continued_as_new', target });
    }
    if (event.workflowExecutionFailedEventAttributes) {
      const failure = failureFacts(event.workflowExecutionFailedEventAttributes.failure);
      return this.moment(event, { kind: 'end', end: 'failed', failure });
    }
    const other = [
      [event.workflowExecutionTimedOutEventAttributes, 'timed_out'],
      [event.workflowExecutionCanceledEventAttributes, 'cancelled'],
      [event.workflowExecutionTerminatedEventAttributes, 'terminated'],
    ] as const;
    for (const [attributes, end] of other) if (attributes) return this.moment(event, { kind: 'end', end });
    return false;
  }
}

/**
 * Whether an activity waits for a watcher. For as long as it waits, such an activity fails and is retried (ADR 26), so
 * its attempts and start times are meaningless.
 */
const isWatched = (activity: Operation | undefined, lastFailure: PendingActivity['lastFailure']): boolean =>
  activity?.name === ACTIVITY.watchVideo && lastFailure?.applicationFailureInfo?.type === RETRY_LATER;

function summaryOf(event: Event): string | null {
  const text = decoded(event.userMetadata?.summary);
  return typeof text === 'string' ? text : null;
}

/** Returns an event's name, such as `activityTaskPaused`, for an event without its own reader. */
function eventName(event: Event): string {
  const found = Object.keys(event).find(
    (key) => key.endsWith('EventAttributes') && event[key as keyof Event] !== null,
  );
  return found?.replace(/EventAttributes$/, '') ?? 'unknown';
}
