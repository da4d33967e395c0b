import { goldenHistory } from '../../replay/golden-histories';

/** Attributes of the events that a command of the workflow makes, and what the command is called here. */
const COMMANDS: Readonly<Record<string, string>> = {
  timerStartedEventAttributes: 'timer',
  timerCanceledEventAttributes: 'cancel a timer',
  markerRecordedEventAttributes: 'marker',
  activityTaskCancelRequestedEventAttributes: 'cancel an activity',
  startChildWorkflowExecutionInitiatedEventAttributes: 'child',
  requestCancelExternalWorkflowExecutionInitiatedEventAttributes: 'cancel another',
  signalExternalWorkflowExecutionInitiatedEventAttributes: 'signal',
  upsertWorkflowSearchAttributesEventAttributes: 'search attributes',
  workflowPropertiesModifiedEventAttributes: 'memo',
  nexusOperationScheduledEventAttributes: 'nexus',
  workflowExecutionContinuedAsNewEventAttributes: 'continue as new',
  workflowExecutionCompletedEventAttributes: 'completed',
};

const POLL = 'media.pollVideos';

/** The commands behind a history in their order; a poll loop of any length is one tick. */
export function commandsOf(events: readonly object[]): readonly string[] {
  const commands: string[] = [];
  for (const event of events as readonly Record<string, unknown>[]) {
    const scheduled = event['activityTaskScheduledEventAttributes'] as Scheduled | null | undefined;
    if (scheduled != null) commands.push(scheduled.activityType?.name ?? 'activity');
    for (const [attributes, name] of Object.entries(COMMANDS)) {
      if (event[attributes] != null) commands.push(name);
    }
  }
  return commands.reduce<string[]>((kept, command) => {
    // A tick that took longer than the interval is followed by the next without a timer.
    const again = kept.at(-1) === 'timer' ? kept.slice(0, -1) : kept;
    return command === POLL && again.at(-1) === POLL ? again : [...kept, command];
  }, []);
}

interface Scheduled {
  readonly activityType?: { readonly name?: string | null } | null;
}

/** The commands of a golden history. */
export function goldenCommands(file: string): readonly string[] {
  return commandsOf(goldenHistory(file).json.events);
}
