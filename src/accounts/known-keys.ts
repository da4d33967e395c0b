import { keySecrets } from '../service/credentials';

/**
 * The keys of all accounts of this process, in memory only: a service may echo the key of another one. The key before
 * the present one is kept too, because it may still be valid where it was replaced.
 */
export class KnownKeys {
  private readonly keys = new Map<string, readonly string[]>();
  private all: readonly string[] = [];

  learn(account: string, key: string): void {
    const known = this.keys.get(account) ?? [];
    if (known[0] === key || keySecrets(key).length === 0) return;
    this.keys.set(account, [key, ...known.filter((other) => other !== key)].slice(0, 2));
    this.all = [...this.keys.values()].flat();
  }

  /** The same object as long as no key has changed. */
  secrets(): readonly string[] {
    return this.all;
  }
}
