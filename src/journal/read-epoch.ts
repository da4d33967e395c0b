import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type EpochView } from '../domain/create-journal';
import { readIfThere } from './read-if-there';
import { parseOutcome, parseResolution, parseSlot } from './records';

/** What the files of one epoch say. */
export async function readEpoch(folder: string, epoch: number): Promise<EpochView> {
  // Most creates ask for a key that is new: one look instead of three.
  if (!(await isThere(folder))) return { slot: null, outcome: null, resolution: null };
  // The newest first: a slot is always older than its outcome, so no view has an outcome without its slot.
  const resolution = await readIfThere(join(folder, `${epoch}.resolution`));
  const outcome = await readIfThere(join(folder, `${epoch}.outcome`));
  const slot = await readIfThere(join(folder, `${epoch}.slot`));
  return {
    slot: slot === null ? null : parseSlot(slot),
    outcome: outcome === null ? null : parseOutcome(outcome),
    resolution: resolution === null ? null : parseResolution(resolution),
  };
}

async function isThere(folder: string): Promise<boolean> {
  try {
    await stat(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
