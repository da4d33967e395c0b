/** Where a value comes from. `file`: the profile of Temporal's configuration file. `dev`: a running `temporal-media dev`. */
export type ValueOrigin = 'flag' | 'environment' | 'file' | 'dev' | 'default';

/** One line of `config show`. */
export interface ConfigValue {
  readonly name: string;
  /** Secrets as `set (N characters)`; null when nothing is set and there is no default. */
  readonly value: string | null;
  readonly origin: ValueOrigin;
  /** Whether the value is one that is never shown. */
  readonly secret: boolean;
  /** Why no command would accept the value. */
  readonly problem?: string;
  /** What a person may not expect. */
  readonly note?: string;
  /** Set for a variable that nothing here reads; its value may be a misnamed secret and is never shown. */
  readonly unknown?: true;
  /** The name that may have been meant. */
  readonly nearest?: string | null;
}

/** That a secret is there and how long it is; never a part of it (C5.4a). */
export function masked(secret: string): string {
  return `set (${secret.length} characters)`;
}
