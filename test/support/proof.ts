import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** `change` with every change (`npm run verify`), `deep` before a release (`npm run verify:deep`). */
export type ProofSize = 'change' | 'deep';

export const PROOF_SIZE: ProofSize = process.env['PROOF_SIZE'] === 'deep' ? 'deep' : 'change';

/** The number that this run is to reach. */
export function sized<T>(sizes: Readonly<Record<ProofSize, T>>): T {
  return sizes[PROOF_SIZE];
}

/**
 * For suites that look for what nobody thought of, at random, in minutes: the few runs that every change has time for
 * would find nothing that the suites of chosen moments do not. Runs with `npm run verify:deep` only.
 */
export const describeDeep = PROOF_SIZE === 'deep' ? describe : describe.skip;

/** Where the suites of this size write what they reached. */
export function proofFolder(): string {
  const stores = process.env['TEST_STORES'] ?? 'files';
  const size = stores === 'files' ? PROOF_SIZE : `${PROOF_SIZE}-${stores}`;
  return resolve(process.env['PROOF_OUT'] ?? 'node_modules/.cache/temporal-media/proof', size);
}

/** What a suite reached: words of its own, integers or ratios. */
export type ProofCounts = Readonly<Record<string, number>>;

/**
 * Tells what a suite has reached, once, at its end: a line for the reader of the run, and a file from which
 * `npm run guarantees` makes docs/guarantees.md. `suite` is the name of its file below test/proof, or one that starts
 * with it and a slash.
 */
export function proved(suite: string, counts: ProofCounts): void {
  const text = Object.entries(counts)
    .map(([what, count]) => `${count.toLocaleString('en-US')} ${what}`)
    .join(', ');
  process.stdout.write(`proof ${suite} (${PROOF_SIZE}): ${text}\n`);
  const folder = proofFolder();
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${suite.replaceAll('/', '.')}.json`);
  writeFileSync(file, `${JSON.stringify({ v: 1, suite, size: PROOF_SIZE, counts }, null, 2)}\n`);
}
