import { type History } from '@temporalio/common/lib/proto-utils';

/** The history of one run. */
export interface LoadedRun {
  readonly workflowId: string;
  /** Empty where a file does not name it. */
  readonly runId: string;
  readonly workflowType: string;
  /** Name of the file that it was read from, or `server`. */
  readonly source: string;
  /** Whether a codec has decoded payloads of it. */
  readonly decoded?: boolean;
  /** `temporal.api.history.v1.History`. A codec, where one is configured, has decoded its payloads. */
  readonly history: History;
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
