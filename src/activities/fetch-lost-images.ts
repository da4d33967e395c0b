import { type CreateJournal, type JournalKey, type Resolution, type ClaimIntent } from '../domain/journal';
import { type CompletedImages, type ResultsLost } from '../domain/paid-call';
import { type ImageItem } from '../service/media-client';
import { openSealed } from '../journal/sealed-text';
import { keepImages, type KeepImages } from './keep-images';
import { reported } from './mistakes';

export interface LostImages {
  readonly key: JournalKey;
  readonly claim: ClaimIntent | null;
  readonly recorded: ResultsLost;
}

/**
 * Fetches the results that a paid image call could not keep, from the links of its reply; nothing is bought. A complete
 * result is adopted for good, so that it stays when the links expire. Undefined where there are no links.
 */
export async function fetchLostImages(
  { key, claim, recorded }: LostImages,
  keep: KeepImages,
): Promise<CompletedImages | ResultsLost | undefined> {
  const { journal } = keep;
  const { sealedLinks, images, created, usage, estimate } = recorded;
  if (journal === 'none' || sealedLinks === undefined) return undefined;
  const sealing = await journal.sealingKey().catch(reported(undefined));
  const links = sealing && openSealed(sealedLinks, sealing);
  if (links === undefined) return undefined;
  const items = (JSON.parse(links) as readonly (string | null)[]).map((url): ImageItem =>
    url === null ? { kind: 'unreadable', reason: 'kept_before' } : { kind: 'url', url },
  );
  const reply = { items, created, ...(usage === undefined ? {} : { usage }) };
  const base = { ...keep.base, estimate };
  const found = await keepImages(reply, { ...keep, base, before: images });
  return found.outcome === 'completed' ? adopt(journal, key, claim, found) : found;
}

/** A decision made meanwhile takes precedence in the journal; the caller gets the images all the same. */
async function adopt(
  journal: CreateJournal,
  key: JournalKey,
  claim: ClaimIntent | null,
  answer: CompletedImages,
): Promise<CompletedImages> {
  const resolution: Resolution = {
    v: 1,
    decision: 'adopt',
    by: 'worker',
    reason: 'The results that were lost have been fetched after all.',
    at: new Date().toISOString(),
    answer,
  };
  // The images are stored under their hashes: where the journal cannot be written now, the next start fetches them
  // again.
  const written = await journal
    .putResolution(key, answer.sendAttempt, resolution)
    .catch(reported('lost' as const));
  if (written === 'won' && claim !== null)
    await journal.forgetOpen({ ...key, sendAttempt: answer.sendAttempt }, claim.bodyHash);
  return answer;
}
