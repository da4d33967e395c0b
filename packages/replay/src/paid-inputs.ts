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

/** Fields that identify the caller but not what is bought. */
const OF_THE_CALLER: ReadonlySet<string> = new Set(['ancestors']);

/** Maximum number of fields named per command. */
const MOST_FIELDS = 10;

type Command = Readonly<Record<string, Readonly<Record<string, unknown>> | null | undefined>>;

/** Inputs of the paid commands of a run, as produced by the current code in a replay. */
export class PaidInputs {
  readonly #given = new Map<string, readonly Payload[]>();

  clear(): void {
    this.#given.clear();
  }

  /** Keeps what a workflow task has produced. */
  keep(commands: readonly Command[]): void {
    for (const { scheduleActivity: activity, startChildWorkflowExecution: child } of commands) {
      if (PAID.has(String(activity?.['activityType'])))
        this.#given.set(`activity ${String(activity?.['activityId'])}`, payloadsOf(activity?.['arguments']));
      if (PAID.has(String(child?.['workflowType'])))
        this.#given.set(`child ${String(child?.['workflowId'])}`, payloadsOf(child?.['input']));
    }
  }

  /** Where the inputs differ from the history. Only field names are shown, never texts. */
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

/** The first argument is the input of everything here; undefined if it is not JSON. */
function valuesOf([payload]: readonly Payload[]): unknown {
  try {
    return JSON.parse(Buffer.from(payload?.data ?? []).toString('utf8'));
  } catch (error) {
    throwBug(error);
    return undefined;
  }
}

/**
 * Paths of the differences, such as `request.prompt`. A creation key is built from ids, so in a redacted history, which
 * replaces ids, it proves nothing.
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

/** As `history export --redact` writes it. */
const REDACTED = /redacted-\d/;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
