import { type CreateJournal } from '../domain/journal';
import { type Send } from '../domain/log-entries';
import { type CompletedImages, type ResultsLost } from '../domain/paid-call';
import { type ImageItem } from '../service/media-client';
import { openSealed } from '../journal/sealed-text';
import { keepsNothing } from '../journal/no-journal';
import { type KeyLog, recordDecision } from './key-log';
import { keepImages, type KeepImages } from './keep-images';
import { reported } from './mistakes';

export interface LostImages {
  readonly log: KeyLog;
  readonly send: Send;
  readonly recorded: ResultsLost;
}

/**
 * Fetches the results that a paid image call could not keep, from the links of its reply; nothing is bought. A complete
 * result is adopted for good, so that it stays when the links expire. Undefined where there are no links.
 */
export async function fetchLostImages(
  { log, send, recorded }: LostImages,
  keep: KeepImages,
): Promise<CompletedImages | ResultsLost | undefined> {
  const { journal } = keep;
  const { sealedLinks, images, created, usage, estimate } = recorded;
  if (keepsNothing(journal) || sealedLinks === undefined) return undefined;
  const sealing = await journal.sealingKey().catch(reported(undefined));
  const links = sealing && openSealed(sealedLinks, sealing);
  if (links === undefined) return undefined;
  const items = (JSON.parse(links) as readonly (string | null)[]).map((url): ImageItem =>
    url === null ? { kind: 'unreadable', reason: 'kept_before' } : { kind: 'url', url },
  );
  const reply = { items, created, ...(usage === undefined ? {} : { usage }) };
  const base = { ...keep.base, estimate };
  const found = await keepImages(reply, { ...keep, base, before: images });
  return found.outcome === 'completed' ? adopt(journal, log, send, found) : found;
}

/** A decision made meanwhile takes precedence in the journal; the caller gets the images all the same. */
async function adopt(
  journal: CreateJournal,
  log: KeyLog,
  { sent }: Send,
  answer: CompletedImages,
): Promise<CompletedImages> {
  const reason = 'The results that were lost have been fetched after all.';
  const decision = { about: sent.nonce, decision: 'adopt', by: 'worker', reason, answer } as const;
  // The images are stored under their hashes: where the journal cannot be written now, the next start fetches them
  // again.
  await recordDecision(journal, log, decision).catch(reported(undefined));
  return answer;
}
