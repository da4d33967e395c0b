import { join } from 'node:path';
import { type EpochView } from '../domain/create-journal';
import { type JournalFiles, sharedFiles } from './journal-files';
import { parseOutcome, parseResolution, parseSlot } from './records';

/** What the files of one epoch say. */
export async function readEpoch(
  folder: string,
  epoch: number,
  files: JournalFiles = sharedFiles,
): Promise<EpochView> {
  // Most creates ask for a key that is new, and most epochs have no resolution: one look instead of three that find nothing.
  const names = new Set(await files.names(folder, ''));
  const read = (name: string) => (names.has(name) ? files.text(join(folder, name)) : null);
  // The newest first: a slot is always older than its outcome, so no view has an outcome without its slot.
  const resolution = await read(`${epoch}.resolution`);
  const outcome = await read(`${epoch}.outcome`);
  const slot = await read(`${epoch}.slot`);
  return {
    slot: slot === null ? null : parseSlot(slot),
    outcome: outcome === null ? null : parseOutcome(outcome),
    resolution: resolution === null ? null : parseResolution(resolution),
  };
}
