import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { proofFolder } from '../../support/proof';
import { type FuzzCount } from './fuzz-parser';

/** What one file of the fuzz suite came to. */
export interface FuzzPart {
  /** Parsers that the file has; those that failed have no count. */
  readonly parsers: number;
  readonly counts: readonly FuzzCount[];
}

const folder = (): string => join(proofFolder(), 'fuzz');

/** Keeps what one file found; each run writes it anew. */
export function notePart(part: string, found: FuzzPart): void {
  mkdirSync(folder(), { recursive: true });
  writeFileSync(join(folder(), `${part}.json`), JSON.stringify(found));
}

/** What all files have found so far: the last one to end tells of the whole suite. */
export function foundByPart(): FuzzPart[] {
  return readdirSync(folder()).map(
    (name) => JSON.parse(readFileSync(join(folder(), name), 'utf8')) as FuzzPart,
  );
}
