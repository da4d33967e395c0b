export type ProofSize = 'change' | 'deep';

/** What one suite must show for one promise. */
export interface Proof {
  readonly suite?: string;
  readonly test: string;
  readonly figures?: readonly string[];
  readonly zero?: readonly string[];
  readonly atLeast?: Readonly<Partial<Record<ProofSize, Readonly<Record<string, number>>>>>;
}

export interface PromiseEntry {
  readonly promise: string;
  readonly how: string;
  readonly assumes: readonly string[];
  readonly proofs: readonly Proof[];
}

export interface Row {
  readonly row: string;
  readonly where: readonly string[];
}

export interface Promises {
  readonly assumptions: Readonly<Record<string, string>>;
  readonly promises: readonly PromiseEntry[];
  readonly cannot: readonly { readonly what: string; readonly why: string }[];
  readonly rows: readonly Row[];
}

export type Counts = Readonly<Record<string, number>>;

export const COMMITTED: string;
export const ROOT: string;
export const SIZES: readonly ProofSize[];
export const WRITTEN: string;
export function readPromises(): Promises;
export function readResults(folder: string, size: ProofSize): Map<string, Counts>;
export function shortcomings(proof: Proof, counts: Counts | undefined, size: ProofSize): string[];
export function suiteProofs(promises: Promises): (Proof & { readonly suite: string })[];
