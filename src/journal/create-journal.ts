import { randomBytes, randomUUID } from 'node:crypto';
import { type CampaignRecord } from '../domain/campaign/budget-book';
import {
  type Claim,
  type CreateJournal,
  type JournalIdentity,
  type JournalKey,
  type JournalPage,
  type SendAttemptKey,
  type SendAttemptView,
  type TaskIndexEntry,
} from '../domain/journal';
import { parseCampaignRecord } from './campaign-records';
import {
  attemptIn,
  attemptName,
  campaignName,
  hashIn,
  IDENTITY,
  keyPrefix,
  KEYS,
  markName,
  openName,
  openPrefix,
  prefixOfHash,
  removalName,
  taskName,
  taskPrefix,
} from './record-names';
import { type RecordStore } from './record-store';
import {
  JournalRecordError,
  parseClaim,
  parseIdentity,
  parseIndexEntry,
  parseOutcome,
  parsePlace,
  parseRemoval,
  parseResolution,
} from './records';
import { SEALING_KEY } from './sealed-text';

/** Names of one page of a listing: those of some hundred keys. */
const NAMES_PER_PAGE = 1_000;

/**
 * The journal of paid sends in any store of records: files, a bucket, a table, or one of your own
 * (architecture: Stores). What it promises depends on the promises of the store alone.
 */
export function createJournal(records: RecordStore): CreateJournal {
  /** Id and key are created together, so that no journal continues under its id with another key. */
  async function readIdentity(): Promise<ReturnType<typeof parseIdentity>> {
    const text = await records.read(IDENTITY);
    if (text !== null) return parseIdentity(text);
    const sealingKey = randomBytes(SEALING_KEY).toString('base64');
    await records.create(IDENTITY, JSON.stringify({ v: 1, journalId: randomUUID(), sealingKey }));
    return parseIdentity((await records.read(IDENTITY)) ?? '');
  }

  return {
    kind: records.kind,

    async identity(): Promise<JournalIdentity> {
      const { journalId } = await readIdentity();
      return { journalId, hostId: (await records.host?.()) ?? null };
    },

    async sealingKey(): Promise<Uint8Array> {
      return Buffer.from((await readIdentity()).sealingKey, 'base64');
    },

    async putMark(mark): Promise<void> {
      await records.create(markName(mark), '');
    },

    async hasMark(mark): Promise<boolean> {
      // A listing, because a network file system may remember that a file was not there.
      return (await records.names(markName(mark), null, 1)).length > 0;
    },

    async read(key, sendAttempt): Promise<SendAttemptView> {
      const found = await records.readAll(`${keyPrefix(key)}${sendAttempt}.`);
      const text = (record: 'claim' | 'outcome' | 'resolution') =>
        found.get(attemptName(key, sendAttempt, record)) ?? null;
      const [outcome, resolution] = [text('outcome'), text('resolution')];
      // The claim is older than the others: a listing that was made while it was written must not hide it.
      const isOvertaken = text('claim') === null && (outcome !== null || resolution !== null);
      const claim = isOvertaken ? await records.read(attemptName(key, sendAttempt, 'claim')) : text('claim');
      return {
        claim: claim === null ? null : parseClaim(claim),
        outcome: outcome === null ? null : parseOutcome(outcome),
        resolution: resolution === null ? null : parseResolution(resolution),
      };
    },

    async putClaim(key, sendAttempt, claim: Claim): Promise<'won' | 'lost'> {
      if (sendAttempt > 0) await requireEarlier(key, sendAttempt);
      // Before the claim, so that a kill between the two leaves a superfluous hint and never a missing one.
      if (claim.kind === 'intent') {
        const place = { ...key, sendAttempt };
        await records.note(openName(place, claim.bodyHash), JSON.stringify({ v: 1, ...place }));
      }
      const end = await records.create(attemptName(key, sendAttempt, 'claim'), JSON.stringify(claim));
      // The caller of a later send attempt has read the one before. If that was removed meanwhile, this claim is the
      // only one, and the next caller takes the key for new.
      if (sendAttempt > 0) await requireEarlier(key, sendAttempt);
      return end;
    },

    putOutcome: (key, sendAttempt, outcome) =>
      records.create(attemptName(key, sendAttempt, 'outcome'), JSON.stringify(outcome)),

    putResolution: (key, sendAttempt, resolution) =>
      records.create(attemptName(key, sendAttempt, 'resolution'), JSON.stringify(resolution)),

    async scan(after, limit): Promise<JournalPage> {
      const keys: JournalPage['keys'][number][] = [];
      for await (const { hash, names } of keysIn(records, after)) {
        const sendAttempts = await readSendAttempts(records, names);
        if (sendAttempts.length === 0) continue;
        keys.push({ sendAttempts });
        if (keys.length >= limit) return { keys, next: hash };
      }
      return { keys, next: null };
    },

    async findOpenByBody(bodyHash): Promise<readonly SendAttemptKey[]> {
      const places: SendAttemptKey[] = [];
      for await (const names of pagesOf(records, openPrefix(bodyHash))) {
        // A hint may be removed meanwhile, and one that is half written is ignored: its claim was never made.
        const texts = await Promise.all(names.map((name) => records.read(name)));
        places.push(...texts.flatMap((text) => (text === null ? [] : (parsePlace(text) ?? []))));
      }
      return places;
    },

    async forgetOpen(place, bodyHash): Promise<void> {
      await records.note(openName(place, bodyHash), null);
    },

    async indexTask(entry: TaskIndexEntry): Promise<void> {
      await records.create(taskName(entry.video.taskId, entry.video.account), JSON.stringify(entry));
    },

    async findTask(taskId): Promise<readonly TaskIndexEntry[]> {
      const texts = [...(await records.readAll(taskPrefix(taskId))).values()];
      return texts.map(parseIndexEntry).filter((entry) => entry.video.taskId === taskId);
    },

    async readRecord(log, n): Promise<CampaignRecord | null> {
      const text = await records.read(campaignName(log, n));
      return text === null ? null : parseCampaignRecord(text);
    },

    putRecord: (log, n, record) => records.create(campaignName(log, n), JSON.stringify(record)),

    checkWritable: () => checkStore(records),
  };

  async function requireEarlier(key: JournalKey, sendAttempt: number): Promise<void> {
    // In this order: a removal ends with its note, so that a key without a note and with its earlier claim is whole.
    const removal = await records.read(removalName(keyPrefix(key)));
    if (removal !== null && (await isUnderRemoval(key, removal))) {
      throw new JournalRecordError(
        'A prune of the journal is removing the records of this creation key, or was killed while it did. If this lasts, run `temporal-media journal prune` again, an hour after the one that was killed: it ends the removal.',
      );
    }
    if ((await records.read(attemptName(key, sendAttempt - 1, 'claim'))) === null) {
      throw new JournalRecordError(
        'The journal has lost the send attempt before this one: its key was pruned. Nothing is sent in it.',
      );
    }
  }

  /**
   * A removal takes the first claim last. Where that is one that the note does not name, everything that it names is gone,
   * and the prune was killed before it took its note away: the key was used anew since.
   */
  async function isUnderRemoval(key: JournalKey, note: string): Promise<boolean> {
    const first = await records.read(attemptName(key, 0, 'claim'));
    return first === null || parseRemoval(note).nonces.includes(parseClaim(first).nonce);
  }
}

/** How many callers try at once whether exactly one of them can create a record. */
const PROBES = 4;

/**
 * Checks that the store can be written and that of several callers one creates a record: a store that ignores the
 * condition would let a video be bought twice. @throws JournalRecordError, or the error of the store
 */
async function checkStore(records: RecordStore): Promise<void> {
  await records.check?.();
  const name = `checks/${randomUUID()}.check`;
  const ends = await Promise.all(Array.from({ length: PROBES }, () => records.create(name, randomUUID())));
  await records.remove(name);
  const winners = ends.filter((end) => end === 'won').length;
  if (winners === 1) return;
  throw new JournalRecordError(
    `The store of the journal let ${winners} of ${PROBES} callers create the same record. It does not honour create-if-absent (S3: If-None-Match; a folder: hard links), so it cannot keep a video from being bought twice, and nothing is sent with it. Use another store.`,
  );
}

/** The records of one creation key. */
export interface KeyRecords {
  /** Digest of namespace and key. */
  readonly hash: string;
  readonly names: readonly string[];
}

/** All creation keys in the order of their digests, only those after `after`. */
export async function* keysIn(records: RecordStore, after: string | null = null): AsyncGenerator<KeyRecords> {
  let open: { hash: string; names: string[] } | undefined;
  // '~' comes after every character of a name.
  for await (const page of pagesOf(records, KEYS, after === null ? null : `${prefixOfHash(after)}~`)) {
    for (const name of page) {
      const hash = hashIn(name);
      if (hash === undefined) continue;
      if (open?.hash !== hash) {
        if (open !== undefined) yield open;
        open = { hash, names: [] };
      }
      open.names.push(name);
    }
  }
  if (open !== undefined) yield open;
}

/** All names that begin with a prefix and come after `after`, page by page. */
export async function* pagesOf(
  records: RecordStore,
  prefix: string,
  after: string | null = null,
): AsyncGenerator<readonly string[]> {
  let last = after;
  for (;;) {
    const page = await records.names(prefix, last, NAMES_PER_PAGE);
    yield page;
    if (page.length < NAMES_PER_PAGE) return;
    last = page.at(-1) ?? null;
  }
}

export type NumberedSendAttempt = SendAttemptView & { readonly sendAttempt: number };

/** All send attempts of a key that have a claim, in order. */
export async function readSendAttempts(
  records: RecordStore,
  names: readonly string[],
): Promise<NumberedSendAttempt[]> {
  const found = names.flatMap((name) => {
    const attempt = attemptIn(name);
    return attempt === undefined ? [] : [{ ...attempt, name }];
  });
  const texts = new Map(
    await Promise.all(found.map(async ({ name }) => [name, await records.read(name)] as const)),
  );
  const claims = found
    .filter(({ record }) => record === 'claim')
    .sort((a, b) => a.sendAttempt - b.sendAttempt);
  return claims.flatMap(({ sendAttempt, name }) => {
    const of = (record: string) => texts.get(name.replace(/claim$/, record)) ?? null;
    const [claim, outcome, resolution] = [of('claim'), of('outcome'), of('resolution')];
    if (claim === null) return [];
    return [
      {
        sendAttempt,
        claim: parseClaim(claim),
        outcome: outcome === null ? null : parseOutcome(outcome),
        resolution: resolution === null ? null : parseResolution(resolution),
      },
    ];
  });
}
