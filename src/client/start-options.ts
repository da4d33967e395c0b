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
import { SEARCH_ATTRIBUTES, type SearchFacts, searchPairs } from '../domain/search-attributes';
import { STARTED_BY } from '../domain/version';
import { InvalidInputError } from './errors';
import { type StartOptions } from './options';

/** What every start of this client has in common: queue, and whether its workflows are searchable. */
export interface Starter {
  readonly client: Client;
  readonly taskQueue: string;
  /** Whether workflows are started with the search attributes of this package. */
  readonly searchable: boolean;
}

/** Options of one start as Temporal has them: those of the user, with our memo and search attributes. */
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

/** Says what to do about search attributes that the namespace lacks. @throws InvalidInputError */
export function refuseUnregistered(error: unknown): never {
  // Its text may name the workflow's id, in which anything may stand.
  if (!(error instanceof Error) || error instanceof WorkflowExecutionAlreadyStartedError) throw error;
  const text = `${error.message} ${String((error.cause as Error | undefined)?.message)}`;
  const name = SEARCH_ATTRIBUTES.find((one) => text.includes(one));
  if (name === undefined) throw error;
  throw new InvalidInputError(
    'searchAttributes',
    `The namespace has no search attribute ${name}: register those of this package with \`temporal-media setup\`, or leave searchAttributes (MEDIA_SEARCH_ATTRIBUTES) out.`,
  );
}
