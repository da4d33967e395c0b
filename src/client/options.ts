import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowStartOptions,
} from '@temporalio/client';
import {
  defineSearchAttributeKey,
  type SearchAttributePair,
  TypedSearchAttributes,
} from '@temporalio/common';
import { given } from '../domain/json';
import {
  type Fairness,
  fairnessCheck,
  fairnessValue,
  type Labels,
  labelsMemo,
  labelTexts,
} from '../domain/money';
import {
  SEARCH_ATTRIBUTES,
  searchAttributeType,
  type SearchFacts,
  searchPairs,
  STARTED_BY,
} from '../domain/names';
import { duration, type DurationInput, milliseconds, oneOf, optional, type ShapeOf } from '../domain/shape';
import { InvalidInputError } from './errors';

/** The settings that all of a client's starts share. */
export interface Starter {
  readonly client: Client;
  readonly taskQueue: string;
  /** Whether workflows start with this package's search attributes. */
  readonly searchable: boolean;
}

/** Returns the Temporal options for one start: the user's options plus this package's memo and search attributes. */
export function temporalOptions(
  { searchable }: Starter,
  { id: _id, memo, typedSearchAttributes = [], startDelay, fairness, priority, ...options }: StartOptions,
  {
    facts,
    labels,
    memo: own = {},
  }: {
    readonly facts: Omit<SearchFacts, 'labels'>;
    readonly labels?: Labels | undefined;
    readonly memo?: Readonly<Record<string, unknown>>;
  },
): Partial<WorkflowStartOptions> {
  const fairnessKey = fairnessValue(fairness, labels);
  if (fairness !== undefined && fairnessKey === undefined)
    throw new InvalidInputError('fairness', `The call has no label for ${JSON.stringify(fairness)}.`);
  const ours = searchable ? searchPairs({ ...facts, labels: labelTexts(labels) }).map(pairOf) : [];
  const users =
    typedSearchAttributes instanceof TypedSearchAttributes
      ? typedSearchAttributes.toJSON()
      : typedSearchAttributes;
  const attributes = [...users, ...ours];
  return {
    ...options,
    ...given({ startDelay: milliseconds(startDelay) }),
    ...((priority ?? fairnessKey) !== undefined && { priority: { ...priority, ...given({ fairnessKey }) } }),
    memo: { ...memo, ...own, ...labelsMemo(labels), ...STARTED_BY },
    ...(attributes.length > 0 && { typedSearchAttributes: attributes }),
  };
}

function pairOf([name, value]: readonly [string, string | string[]]): SearchAttributePair {
  return { key: defineSearchAttributeKey(name, searchAttributeType(name)), value } as SearchAttributePair;
}

/** Explains how to register missing search attributes. @throws InvalidInputError */
export function refuseUnregistered(error: unknown): never {
  // The text of `WorkflowExecutionAlreadyStartedError` contains the workflow ID, which may match by chance.
  if (!(error instanceof Error) || error instanceof WorkflowExecutionAlreadyStartedError) throw error;
  const text = `${error.message} ${String((error.cause as Error | undefined)?.message)}`;
  const name = SEARCH_ATTRIBUTES.find((one) => text.includes(one));
  if (name === undefined) throw error;
  throw new InvalidInputError(
    'searchAttributes',
    `The namespace does not have the search attribute ${name}. Register this package's search attributes with \`temporal-media setup\`, or omit searchAttributes (MEDIA_SEARCH_ATTRIBUTES).`,
  );
}

/** Options of `TemporalMediaClient`. */
export interface TemporalMediaClientOptions {
  /** The media workers' task queue. @default 'temporal-media' */
  readonly taskQueue?: string;
  /**
   * Whether to start workflows with search attributes, which make outcome, model, account, task and campaign
   * searchable. The namespace must have them (`temporal-media setup`). @default false
   */
  readonly searchAttributes?: boolean;
}

/**
 * Options of a start. Temporal's options are passed through. `memo` and search attributes are merged with those that
 * this package sets.
 */
export interface StartOptions extends Pick<
  WorkflowStartOptions,
  | 'memo'
  | 'typedSearchAttributes'
  | 'priority'
  | 'workflowExecutionTimeout'
  | 'workflowTaskTimeout'
  | 'staticSummary'
  | 'staticDetails'
> {
  /**
   * Serves as both workflow ID and creation key. The same ID with the same request attaches to the workflow or returns
   * the first result, and never buys twice. @default a generated ID
   */
  readonly id?: string;
  /** Which label shares the task queues' capacity fairly (`priority.fairnessKey`), as `label:NAME`. @default none */
  readonly fairness?: Fairness;
  /** How long the server waits before the call starts. Until then, a cancellation costs nothing. @default 0 */
  readonly startDelay?: DurationInput;
}

/** What runs a call: a workflow, or an activity without one, which costs one Temporal action and has no history. */
export type RunAs = 'workflow' | 'activity';

/** Options of `TemporalMediaClient.images`. */
export interface ImageStartOptions extends StartOptions {
  /**
   * What runs the call. An activity accepts neither a memo nor the options of workflows.
   * @default 'activity' if the server runs activities without a workflow and no such option is given, else 'workflow'
   */
  readonly as?: RunAs;
}

/** Options of `TemporalMediaClient.watch`. */
export interface WatchOptions {
  /** Milliseconds between queries. @default 1500 */
  readonly intervalMs?: number;
  /** Ends the watch when aborted. The workflow keeps running. */
  readonly signal?: AbortSignal;
}

/** Options of `TemporalMediaClient.findTask`. */
export interface FindTaskOptions {
  /** Whether to send one GET to the service if the journal does not know the task. @default false */
  readonly askService?: boolean;
  /** Timeout in milliseconds. @default 120000 */
  readonly timeoutMs?: number;
}

/** Options of `TemporalMediaClient.artifactStore`. */
export interface ArtifactStoreOptions {
  /** Timeout in milliseconds. @default 120000 */
  readonly timeoutMs?: number;
}

export const CLIENT_KEYS = {
  taskQueue: true,
  searchAttributes: true,
} satisfies ShapeOf<TemporalMediaClientOptions>;
export const START_KEYS = {
  id: true,
  memo: true,
  typedSearchAttributes: true,
  priority: true,
  fairness: optional(fairnessCheck),
  workflowExecutionTimeout: true,
  workflowTaskTimeout: true,
  staticSummary: true,
  staticDetails: true,
  startDelay: optional(duration),
} satisfies ShapeOf<StartOptions>;
export const IMAGE_START_KEYS = {
  ...START_KEYS,
  as: optional(oneOf('workflow', 'activity')),
} satisfies ShapeOf<ImageStartOptions>;
/** Options that an activity without a workflow does not have. */
export const WORKFLOW_ONLY = [
  'memo',
  'workflowExecutionTimeout',
  'workflowTaskTimeout',
  'staticDetails',
] as const satisfies readonly (keyof StartOptions)[];
export const WATCH_KEYS = { intervalMs: true, signal: true } satisfies ShapeOf<WatchOptions>;
export const ARTIFACT_STORE_KEYS = { timeoutMs: true } satisfies ShapeOf<ArtifactStoreOptions>;
export const FIND_TASK_KEYS = { askService: true, timeoutMs: true } satisfies ShapeOf<FindTaskOptions>;
