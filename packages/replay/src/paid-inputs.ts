import { type Payload } from '@temporalio/common';
import { type History } from '@temporalio/common/lib/proto-utils';
import { throwBug } from 'temporal-media/internal/domain/bug';
import { ACTIVITY, WORKFLOW } from 'temporal-media/internal/domain/names';
import { commandEvent } from './history-commands';
import { type RecordedCommand } from './replay-worker';
import { type InputDifference } from './verdict';

/** This package's activities and child workflows that pay, or that allocate money. */
const PAID: ReadonlySet<string> = new Set([
  ACTIVITY.createVideo,
  ACTIVITY.createVideos,
  ACTIVITY.generateImage,
  ACTIVITY.editImage,
  ACTIVITY.campaignImage,
  WORKFLOW.generateVideo,
  WORKFLOW.generateImage,
  WORKFLOW.editImage,
  WORKFLOW.runCampaign,
]);

/** Fields that identify the caller, not the purchase. */
const OF_THE_CALLER: ReadonlySet<string> = new Set(['ancestors']);

/** Maximum number of fields named per command. */
const MOST_FIELDS = 10;

type Command = Readonly<Record<string, Readonly<Record<string, unknown>> | null | undefined>>;

/** The inputs of a run's paid commands, as the current code produces them in a replay. */
export class PaidInputs {
  readonly #given = new Map<string, readonly Payload[]>();

  clear(): void {
    this.#given.clear();
  }

  /** Keeps the paid commands from one workflow task. */
  keep(commands: readonly Command[]): void {
    for (const { scheduleActivity: activity, startChildWorkflowExecution: child } of commands) {
      if (PAID.has(String(activity?.['activityType'])))
        this.#given.set(`activity ${String(activity?.['activityId'])}`, payloadsOf(activity?.['arguments']));
      if (PAID.has(String(child?.['workflowType'])))
        this.#given.set(`child ${String(child?.['workflowId'])}`, payloadsOf(child?.['input']));
    }
  }

  /** Returns the inputs that differ from the history. The result contains field names, never values. */
  differences({ events }: History): readonly Omit<InputDifference, 'at'>[] {
    return (events ?? []).flatMap((event) => {
      const activity = event.activityTaskScheduledEventAttributes;
      const child = event.startChildWorkflowExecutionInitiatedEventAttributes;
      const key = activity != null ? `activity ${activity.activityId}` : `child ${child?.workflowId}`;
      const given = this.#given.get(key);
      const view = commandEvent(event);
      if (given === undefined || view === undefined) return [];
      const { task: _task, ...shown } = view;
      const fields = differing(
        valuesOf(given),
        valuesOf((activity ?? child)?.input?.payloads ?? []),
        'input',
      );
      return fields.length === 0 ? [] : [{ event: shown, fields: fields.slice(0, MOST_FIELDS) }];
    });
  }
}

/** Whether a recorded command matches this event. */
export function isCommandOf(
  { kind, name, seq, id }: RecordedCommand,
  { event }: Pick<InputDifference, 'event'>,
  activityId: string | null | undefined,
): boolean {
  if (kind === 'startChildWorkflowExecution') return event.kind === 'child workflow' && event.id === id;
  return kind === 'scheduleActivity' && event.name === name && String(seq) === activityId;
}

const payloadsOf = (value: unknown): readonly Payload[] => (Array.isArray(value) ? (value as Payload[]) : []);

/** Parses the first argument, which is the input in every paid command. Returns undefined if it is not JSON. */
function valuesOf([payload]: readonly Payload[]): unknown {
  try {
    return JSON.parse(Buffer.from(payload?.data ?? []).toString('utf8'));
  } catch (error) {
    throwBug(error);
    return undefined;
  }
}

/**
 * Returns the paths that differ, such as `request.prompt`. Ignores creation keys in redacted histories: keys are built
 * from ids, and redaction replaces ids.
 */
function differing(given: unknown, recorded: unknown, path: string): readonly string[] {
  if (isObject(given) && isObject(recorded)) {
    const names = [...new Set([...Object.keys(given), ...Object.keys(recorded)])];
    const inside = path === 'input' ? '' : `${path}.`;
    return names.flatMap((name) =>
      OF_THE_CALLER.has(name) || (name === 'creationKey' && REDACTED.test(String(recorded[name])))
        ? []
        : differing(given[name], recorded[name], `${inside}${name}`),
    );
  }
  return JSON.stringify(given) === JSON.stringify(recorded) ? [] : [path];
}

/** The format that `history export --redact` writes. */
const REDACTED = /redacted-\d/;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
