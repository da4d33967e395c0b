import { type Money } from '../domain/billing';
import { type CreatePolicy, type IdempotencyPolicy } from '../domain/create-policy';
import { type RejectReason } from '../domain/paid-call';
import { type PollingProfile } from '../domain/polling-profile';
import { type ValidationIssue } from '../domain/validation-issue';

/** A paid call before its send. `fileHashes` names every `{file}` that could be read, for the fingerprint. */
export type Prepared<Body> =
  | ReadyCall<Body>
  | {
      readonly kind: 'invalid';
      readonly issue: ValidationIssue;
      readonly fileHashes: ReadonlyMap<string, string>;
    }
  /** The model configuration is down: the call waits unsent (architecture: Models). */
  | {
      readonly kind: 'unavailable';
      readonly message: string;
      readonly fileHashes: ReadonlyMap<string, string>;
    }
  /** This worker lacks what another may have: the call waits for that one. */
  | {
      readonly kind: 'missing';
      readonly missing: MissingHere;
      readonly fileHashes: ReadonlyMap<string, string>;
    }
  /** The shape is wrong or a file cannot be read, so that not even a fingerprint can be made. */
  | { readonly kind: 'unreadable'; readonly issue: ValidationIssue };

/** What a worker lacks, and what the call is rejected for once no worker has had it within the start limit. */
export interface MissingHere {
  /** Public word. */
  readonly cause: 'account_not_configured' | 'no_key' | 'artifact_missing';
  readonly reason: RejectReason;
  readonly message: string;
  readonly field?: string;
}

export interface ReadyCall<Body> {
  readonly kind: 'ready';
  readonly body: Body;
  readonly estimate: Money | null;
  readonly polling?: PollingProfile | undefined;
  /** Milliseconds for the whole exchange. */
  readonly budgetMs: number;
  /** What the configuration of the model vouches for, above the policy of the worker. */
  readonly idempotency?: IdempotencyPolicy | undefined;
  readonly warnings: readonly string[];
  readonly fileHashes: ReadonlyMap<string, string>;
}

/** Said when the model is in no configuration: the call passed with the safe fields only. */
export const NOT_VALIDATED = 'The model is not in the configuration: its values were not validated.';

/** The body could not be made although no field was named. */
export const UNSENDABLE: ValidationIssue = {
  field: 'request',
  message: 'The request cannot be put into a body.',
};

/** What the configuration says about the model, above the worker's policy and below the caller's. */
export function preferred(prepared: Prepared<{ readonly bodyHash: string }>): CreatePolicy | undefined {
  return prepared.kind === 'ready' && prepared.idempotency !== undefined
    ? { idempotency: prepared.idempotency }
    : undefined;
}
