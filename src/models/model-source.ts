import { type ModelEntry, type ModelLookup } from '../domain/model-config';

/** The configuration cannot be read and no good copy is young enough: a paid call waits unsent with this reason (design 4.10). */
export interface ModelsUnavailable {
  readonly found: 'unavailable';
  readonly message: string;
  readonly retryAfterMs: number;
}

/** The live model configuration as a worker asks for it. */
export interface ModelSource {
  lookup(modelId: string): Promise<ModelLookup | ModelsUnavailable>;
  /** Entries of the current copy; undefined when there is no configuration or none can be read. */
  all(): Promise<readonly ModelEntry[] | undefined>;
  /** First 12 hex digits of the SHA-256 of the current copy; `none` without a configuration. */
  fingerprint(): string;
}
