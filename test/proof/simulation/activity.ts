import { mayHaveLeft, type PaidCallSeen } from '../../../src/activities/binding/paid-history';
import { announcedIn } from '../../../src/domain/create-heartbeat';
import { senderName } from '../../../src/domain/paid-call';
import { type Execution } from './activity-sdk';
import { type Timer } from './virtual-time';
import { type ActivityOptions, type Run } from './workflow-sdk';

export type End = { readonly value: unknown } | { readonly error: Error };

/** One activity as the server keeps it. */
export interface Activity {
  readonly name: string;
  readonly id: string;
  readonly options: ActivityOptions;
  readonly input: { readonly creationKey: string; readonly sender?: string };
  readonly run: Run;
  readonly scheduledAt: number;
  readonly closesAt: number;
  readonly settle: (how: End) => void;
  end: End | undefined;
  open: boolean;
  attempt: number;
  /** The attempt that may complete it; another one is "not found". */
  current: Execution | undefined;
  /** When this attempt was scheduled. */
  dispatchedAt: number;
  dispatches: number;
  started: boolean;
  stuck: boolean;
  reset: boolean;
  lastBeat: unknown;
  cancelRequested: boolean;
  timers: Timer[];
}

/** A paid call as histories and open activities tell of it (src/activities/binding/paid-history.ts). */
export function paidCallOf(activity: Activity): PaidCallSeen | undefined {
  const { name, id, input, run, scheduledAt, end, started, lastBeat } = activity;
  const answer = end !== undefined && 'value' in end ? (end.value as PaidCallSeen['answer']) : null;
  const heard = announcedIn(lastBeat);
  // What ended before any worker had it has no end of its own there.
  const lost = end !== undefined && started ? true : run.closed || (end === undefined && heard !== null);
  if (!mayHaveLeft(answer, lost)) return undefined;
  return {
    workflowId: run.isStandalone === true ? null : run.workflowId,
    runId: run.runId,
    activityId: id,
    type: name,
    creationKey: input.creationKey,
    sender: input.sender ?? senderName(run.runId, id),
    announced: heard,
    scheduledAt: new Date(scheduledAt).toISOString(),
    input,
    answer,
  };
}
