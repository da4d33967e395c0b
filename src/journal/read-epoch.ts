import { join } from 'node:path';
import { type EpochView } from '../domain/create-journal';
import { asyncFiles, type JournalFiles } from './journal-files';
import { parseOutcome, parseResolution, parseSlot } from './records';

/** What the files of one epoch say. */
export async function readEpoch(
  folder: string,
  epoch: number,
  files: JournalFiles = asyncFiles,
): Promise<EpochView> {
  // Most creates ask for a key that is new, and most epochs have no resolution: one look instead of three that find nothing.
  const names = (await files.names(folder, '')).filter((name) => name.startsWith(`${epoch}.`));
  if (names.length === 0) return { slot: null, outcome: null, resolution: null };
  const read = (name: string) => (names.includes(name) ? files.text(join(folder, name)) : null);
  const resolution = await read(`${epoch}.resolution`);
  const outcome = await read(`${epoch}.outcome`);
  // The slot last, and also where the names lack it: it is older than the others, so that no view has an outcome without it.
  const slot = await files.text(join(folder, `${epoch}.slot`));
  return {
    slot: slot === null ? null : parseSlot(slot),
    outcome: outcome === null ? null : parseOutcome(outcome),
    resolution: resolution === null ? null : parseResolution(resolution),
  };
}
