import { type History } from '@temporalio/common/lib/proto-utils';

type Event = NonNullable<History['events']>[number];

/** An open activity as the server sees it: a history gets the start of an activity with its end. Milliseconds since 1970. */
export interface PendingActivity {
  /** Id of the activity in its run. */
  readonly activityId: string;
  /** From 1. */
  readonly attempt: number;
  /** When a worker began this try; null where none has it. */
  readonly startedAt: number | null;
  /** End of the try before this one; null for the first. */
  readonly triedUntil: number | null;
  /** From when on workers can have this try, where none has it; null: at once. */
  readonly offeredAt: number | null;
  /** Why the try before this one failed. */
  readonly lastFailure: NonNullable<Event['activityTaskStartedEventAttributes']>['lastFailure'];
}

/** The history of one run. */
export interface LoadedRun {
  /** Id of the workflow. */
  readonly workflowId: string;
  /** Empty where a file does not name it. */
  readonly runId: string;
  /** Name of the workflow type. */
  readonly workflowType: string;
  /** Name of the file that it was read from, or `server`. */
  readonly source: string;
  /** Whether a codec has decoded payloads of it. */
  readonly decoded?: boolean;
  /** `temporal.api.history.v1.History`. A codec, where one is configured, has decoded its payloads. */
  readonly history: History;
  /** When it was read from a server, in milliseconds since 1970; absent for a file. */
  readonly readAt?: number;
  /** Open activities of a run that somebody has named by its id; absent where the server was not asked. */
  readonly pending?: readonly PendingActivity[];
}

/** What one argument of the command names: a workflow with all of its runs. */
export interface LoadedTarget {
  /** The argument as it was given; of a query and a folder the workflow id. */
  readonly target: string;
  /** One execution chain: runs that continued as new, oldest first. */
  readonly runs: readonly LoadedRun[];
  /** Child workflows, where they were asked for. */
  readonly children?: readonly LoadedTarget[];
  /** Watchers that polled the video, with the runs that the server still has; absent where it was not asked. */
  readonly watchers?: readonly LoadedTarget[];
}
