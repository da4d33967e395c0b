import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { throwBug } from '../domain/bug';
import { type CreateJournal, keepsNothing } from '../domain/journal';
import { given } from '../domain/json';
import { type Send } from '../domain/log-entries';
import { mapConcurrently } from '../domain/map-concurrently';
import { type CompletedImages, type ResultsLost } from '../domain/paid-call';
import { type ArtifactRef, isDataUrl } from '../domain/request';
import { type ImageItem, type ImagesAccepted, type MediaClient } from '../service/media-client';
import { readDataUrl } from '../service/read-data-url';
import { type ArtifactStore } from '../stores/artifacts/artifact-store';
import { checkImage } from '../stores/artifacts/media-type';
import { blockedLocation } from './download-problems';
import { reported } from './failures';
import { type KeyLog, recordDecision } from './key-log';
import { type AnswerBase } from './paid-answers';
import { readBounded } from './sources';

export interface ImageStorage {
  readonly base: AnswerBase;
  readonly client: MediaClient;
  readonly artifacts: ArtifactStore;
  /** Number of results requested. If the service returns a different number, that is always reported. */
  readonly requested: number;
  readonly warnings: readonly string[];
  /**
   * Time by which everything must be stored or given up, in milliseconds of `performance.now`. The outcome is written
   * after that.
   */
  readonly deadlineAt: number;
  /** The journal that records the answer. Without one, results that are lost now cannot be fetched later. */
  readonly journal: CreateJournal;
  /** Results that are already stored, by index. They are not fetched again. */
  readonly before?: readonly (ArtifactRef | null)[];
}

/** A result that could not be stored: a public reason, and an explanation if there is one. */
interface Lost {
  readonly lost: string;
  readonly why?: string;
}

/** Maximum size of a single result, in bytes. */
export const MAX_IMAGE_BYTES = 256 * 1024 * 1024;
/** Maximum number of results read from one reply, because the answer lists each one. Services return far fewer. */
export const MAX_RESULTS = 1_000;
const AT_ONCE = 8;
const FETCH_TRIES = 6;
const FETCH_DELAY_MS = 500;
const FETCH_MAX_DELAY_MS = 20_000;

/**
 * Immediately fetches or decodes every result within the call (C2.5.3), and stores it. A result that cannot be stored
 * makes the entire call `results_lost`: it is paid for and never sent again automatically (architecture: Images).
 */
export async function storeImages(
  reply: Pick<ImagesAccepted, 'items' | 'created' | 'usage' | 'actual'>,
  keep: ImageStorage,
): Promise<CompletedImages | ResultsLost> {
  const items = reply.items.slice(0, MAX_RESULTS);
  const kept = await keepAll(items, keep);
  const unseen = reply.items.length - kept.length;
  const lost = kept.filter((result): result is Lost => 'lost' in result);
  const { created, usage, actual } = reply;
  if (lost.length + unseen > 0 || kept.length === 0) {
    const sealedLinks = unseen === 0 && kept.length > 0 ? await sealLinks(items, kept, keep) : undefined;
    const reason = lost[0]?.lost ?? (unseen > 0 ? 'too_many_results' : 'no_results');
    return {
      ...keep.base,
      outcome: 'results_lost',
      images: kept.map((result) => ('lost' in result ? null : result)),
      created,
      ...given({ usage, actual }),
      reason,
      message: [
        `The reply was read and the call is paid for, but ${lost.length + unseen} of ${reply.items.length} results could not be stored (${reason}).`,
        ...new Set(lost.flatMap(({ why }) => why ?? [])),
        sealedLinks === undefined
          ? 'The call is not sent again.'
          : "Start the same ID again while the service's links are valid, to fetch the missing results. The call is not sent again.",
      ].join(' '),
      ...given({ sealedLinks }),
    };
  }
  const difference =
    kept.length === keep.requested
      ? []
      : [`${keep.requested} results were requested, but ${kept.length} were returned.`];
  return {
    ...keep.base,
    outcome: 'completed',
    images: kept as ArtifactRef[],
    created,
    ...given({ usage, actual }),
    warnings: [...keep.warnings, ...difference],
  };
}

/** Stores the results in order, with limited concurrency. */
async function keepAll(
  items: readonly ImageItem[],
  keep: ImageStorage,
): Promise<readonly (ArtifactRef | Lost)[]> {
  const kept: (ArtifactRef | Lost)[] = [];
  await mapConcurrently(items.entries(), AT_ONCE, async ([index, item]) => {
    kept[index] = keep.before?.[index] ?? (await keepOne(item, keep));
  });
  return kept;
}

/** Seals the links of all lost results, by index. Returns undefined if a result has no link, or without a journal. */
async function sealLinks(
  items: readonly ImageItem[],
  kept: readonly (ArtifactRef | Lost)[],
  { journal }: ImageStorage,
): Promise<string | undefined> {
  const links = items.map((item, index) => ('lost' in kept[index]! ? linkOf(item) : null));
  if (keepsNothing(journal) || links.includes(undefined)) return undefined;
  // The call is paid for: a journal failure loses the links, but must not lose the answer.
  const key = await journal.sealingKey().catch(reported(undefined));
  return key === undefined ? undefined : sealText(JSON.stringify(links), key);
}

function linkOf(item: ImageItem): string | undefined {
  return item.kind === 'url' && /^https?:/i.test(item.url) ? item.url : undefined;
}

async function keepOne(
  item: ImageItem,
  { client, artifacts, deadlineAt }: ImageStorage,
): Promise<ArtifactRef | Lost> {
  const bytes =
    item.kind === 'b64'
      ? item.data
      : item.kind === 'url'
        ? await fetchImage(item.url, client, deadlineAt)
        : { lost: item.reason };
  if ('lost' in bytes) return bytes;
  const check = checkImage(bytes);
  if (!check.ok) return { lost: check.reason };
  try {
    // The media type is determined from the bytes.
    return await artifacts.putBuffer(bytes, { mediaType: check.mediaType });
  } catch (error) {
    return reported<Lost>({ lost: 'storage' })(error);
  }
}

async function fetchImage(url: string, client: MediaClient, deadlineAt: number): Promise<Buffer | Lost> {
  if (isDataUrl(url)) return readDataUrl(url, MAX_IMAGE_BYTES) ?? { lost: 'unreadable_data_url' };
  if (!URL.canParse(url)) return { lost: 'unreadable_url' };
  if (performance.now() >= deadlineAt) return { lost: 'no_time_left' };
  const signal = AbortSignal.timeout(Math.ceil(Math.max(1, deadlineAt - performance.now())));
  let lost = 'network';
  for (let attempt = 1; attempt <= FETCH_TRIES; attempt++) {
    const result = await client.fetchContent({ url: new URL(url), signal });
    if (result.kind === 'blocked') return { lost: 'blocked', why: blockedLocation(result) };
    let delay = Math.min(FETCH_MAX_DELAY_MS, FETCH_DELAY_MS * 2 ** attempt);
    if (result.kind === 'body') {
      const bytes = await readBounded(result.body, MAX_IMAGE_BYTES, signal);
      if (bytes !== undefined && (result.contentLength === null || result.contentLength === bytes.length))
        return bytes;
      lost = 'incomplete_file';
    } else if (result.kind === 'refused') {
      lost = `http_${result.status}`;
      delay = Math.max(delay, result.retryAfterMs ?? 0);
      // A repeated request would be denied again, and waiting for hours is not an option here.
      if (result.status === 401 || result.status === 403 || delay > FETCH_MAX_DELAY_MS) break;
    } else lost = result.code;
    if (performance.now() + delay >= deadlineAt) break;
    if (attempt < FETCH_TRIES) await new Promise((resolve) => setTimeout(resolve, delay));
  }
  return lost === 'http_404' || lost === 'http_410' ? { lost, why: GONE } : { lost };
}

const GONE =
  "The service returned a URL for the result, but there is nothing at that URL: the result may have been deleted, or the URL requires a header or an account that the worker does not have. Use the request ID to ask the service for this call's result. The call is paid for.";

interface LostImages {
  readonly log: KeyLog;
  readonly send: Send;
  readonly recorded: ResultsLost;
}

/**
 * Fetches the results that a paid image call could not store, using the links in its reply. Buys nothing. If all
 * results are now stored, they are adopted permanently, so they remain available after the links expire. Returns
 * undefined if there are no links.
 */
export async function fetchLostImages(
  { log, send, recorded }: LostImages,
  keep: ImageStorage,
): Promise<CompletedImages | ResultsLost | undefined> {
  const { journal } = keep;
  const { sealedLinks, images, created, usage, actual, estimate } = recorded;
  if (keepsNothing(journal) || sealedLinks === undefined) return undefined;
  const sealing = await journal.sealingKey().catch(reported(undefined));
  const links = sealing && openSealed(sealedLinks, sealing);
  if (links === undefined) return undefined;
  const items = (JSON.parse(links) as readonly (string | null)[]).map((url): ImageItem =>
    url === null ? { kind: 'unreadable', reason: 'kept_before' } : { kind: 'url', url },
  );
  const reply = { items, created, ...given({ usage, actual }) };
  const base = { ...keep.base, estimate };
  const found = await storeImages(reply, { ...keep, base, before: images });
  return found.outcome === 'completed' ? adopt(journal, log, send, found) : found;
}

/**
 * Adopts the images. If a decision was made in the meantime, that decision wins in the journal, but the caller still
 * receives the images.
 */
async function adopt(
  journal: CreateJournal,
  log: KeyLog,
  { sent }: Send,
  answer: CompletedImages,
): Promise<CompletedImages> {
  const reason = 'The lost results have now been fetched.';
  const decision = { about: sent.nonce, decision: 'adopt', by: 'worker', reason, answer } as const;
  // The images are stored under their hashes. If this write fails, the next start fetches them again.
  await recordDecision(journal, log, decision, Date.now()).catch(reported(undefined));
  return answer;
}

const CIPHER = 'aes-256-gcm';
const IV = 12;
const TAG = 16;
const HEAD = IV + TAG;

/** Encrypts text with this random key and returns it as Base64. Signed URLs are stored only in this form. */
export function sealText(text: string, key: Uint8Array): string {
  const iv = randomBytes(IV);
  const cipher = createCipheriv(CIPHER, key, iv);
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64');
}

/** Decrypts sealed text. Returns undefined if it was sealed with another key or is not sealed text. */
export function openSealed(sealed: string, key: Uint8Array): string | undefined {
  const bytes = Buffer.from(sealed, 'base64');
  try {
    const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV), { authTagLength: TAG });
    decipher.setAuthTag(bytes.subarray(IV, HEAD));
    return Buffer.concat([decipher.update(bytes.subarray(HEAD)), decipher.final()]).toString('utf8');
  } catch (error) {
    throwBug(error);
    return undefined;
  }
}
