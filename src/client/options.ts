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
import { SEARCH_ATTRIBUTES, type SearchFacts, searchPairs, STARTED_BY } from '../domain/names';
import { type ShapeOf } from '../domain/shape';
import { InvalidInputError } from './errors';

/** What every start of this client has in common: queue, and whether its workflows are searchable. */
export interface Starter {
  readonly client: Client;
  readonly taskQueue: string;
  /** Whether workflows are started with the search attributes of this package. */
  readonly searchable: boolean;
}

/** Temporal's options of one start: the user's, with our memo and search attributes. */
export function temporalOptions(
  { searchable }: Starter,
  { id: _id, memo, typedSearchAttributes = [], ...options }: StartOptions,
  {
    facts,
    memo: own = {},
  }: { readonly facts: SearchFacts; readonly memo?: Readonly<Record<string, unknown>> },
): Partial<WorkflowStartOptions> {
  const ours = searchable ? searchPairs(facts).map(pairOf) : [];
  const users =
    typedSearchAttributes instanceof TypedSearchAttributes
      ? typedSearchAttributes.toJSON()
      : typedSearchAttributes;
  const attributes = [...users, ...ours];
  return {
    ...options,
    memo: { ...memo, ...own, ...STARTED_BY },
    ...(attributes.length > 0 && { typedSearchAttributes: attributes }),
  };
}

function pairOf([name, value]: readonly [string, string]): SearchAttributePair {
  return { key: defineSearchAttributeKey(name, 'KEYWORD'), value };
}

/** Explains how to register search attributes that the namespace lacks. @throws InvalidInputError */
export function refuseUnregistered(error: unknown): never {
  // Its text may contain the workflow's id, which may contain anything.
  if (!(error instanceof Error) || error instanceof WorkflowExecutionAlreadyStartedError) throw error;
  const text = `${error.message} ${String((error.cause as Error | undefined)?.message)}`;
  const name = SEARCH_ATTRIBUTES.find((one) => text.includes(one));
  if (name === undefined) throw error;
  throw new InvalidInputError(
    'searchAttributes',
    `The namespace has no search attribute ${name}: register those of this package with \`temporal-media setup\`, or leave searchAttributes (MEDIA_SEARCH_ATTRIBUTES) out.`,
  );
}

/** Options of `TemporalMediaClient`. */
export interface TemporalMediaClientOptions {
  /** Task queue of the media worker. @default 'temporal-media' */
  readonly taskQueue?: string;
  /**
   * Starts workflows with search attributes: outcome, model, account, task and campaign can then be searched. The
   * namespace must have them (`temporal-media setup`). @default false
   */
  readonly searchAttributes?: boolean;
}

/**
 * Options of a start. Temporal's are passed through; `memo` and search attributes are merged with those of this
 * package.
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
   * Workflow id and creation key at once: the same id with the same request attaches or returns the first result,
   * and never buys twice. @default a generated id
   */
  readonly id?: string;
}

/** Options of `TemporalMediaClient.watch`. */
export interface WatchOptions {
  /** Milliseconds between two queries. @default 1500 */
  readonly intervalMs?: number;
  /** Ends the watch. The workflow keeps running. */
  readonly signal?: AbortSignal;
}

/** Options of `TemporalMediaClient.findTask`. */
export interface FindTaskOptions {
  /** @default false */
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
  workflowExecutionTimeout: true,
  workflowTaskTimeout: true,
  staticSummary: true,
  staticDetails: true,
} satisfies ShapeOf<StartOptions>;
export const WATCH_KEYS = { intervalMs: true, signal: true } satisfies ShapeOf<WatchOptions>;
export const ARTIFACT_STORE_KEYS = { timeoutMs: true } satisfies ShapeOf<ArtifactStoreOptions>;
export const FIND_TASK_KEYS = { askService: true, timeoutMs: true } satisfies ShapeOf<FindTaskOptions>;
