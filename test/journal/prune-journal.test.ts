import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bookLog } from '../../src/domain/campaign/budget-book';
import { type CreateJournal, type ClaimIntent } from '../../src/domain/journal';
import { type CreatedVideo } from '../../src/domain/paid-call';
import { createJournal } from '../../src/journal/create-journal';
import { createFileRecords } from '../../src/journal/file-records';
import { type Pruned, pruneJournal } from '../../src/journal/prune-journal';
import { type RecordStore } from '../../src/journal/record-store';
import { claimIntent } from '../activities/claim-intent';
import { answers } from '../domain/create-answers';

const DAY = 24 * 60 * 60_000;
const OLD = new Date(Date.now() - 100 * DAY).toISOString();
const BEFORE = new Date(Date.now() - 90 * DAY);
const NONE = { keys: 0, removed: 0, keptOpen: 0, keptRunning: 0, keptYoung: 0 };

/** A key that goes too early buys again; one that goes in part reads as "nothing was sent here". */
describe('pruning a journal', () => {
  let root: string;
  let records: RecordStore;
  let journal: CreateJournal;
  /** The store as the prune sees it. */
  let prunes: RecordStore;
  /** Milliseconds by which the clock of the prune is ahead. */
  let later = 0;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'temporal-media-prune-'));
    records = createFileRecords({ root });
    prunes = records;
    later = 0;
    journal = createJournal(records);
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  /** A store that calls before it creates or removes a record. */
  const watched = (
    beforeCreate?: (name: string) => Promise<void>,
    beforeRemove?: (name: string) => Promise<void>,
  ): RecordStore => ({
    ...records,
    create: async (name, text) => {
      await beforeCreate?.(name);
      return records.create(name, text);
    },
    remove: async (name) => {
      await beforeRemove?.(name);
      return records.remove(name);
    },
  });

  const keyOf = (creationKey: string) => ({ namespace: 'default', creationKey });

  async function sent(name: string, changes: Partial<ClaimIntent> = {}): Promise<ClaimIntent> {
    const claim = claimIntent({ ...keyOf(name), bodyHash: `body of ${name}`, at: OLD, ...changes });
    await journal.putClaim(keyOf(name), 0, claim);
    return claim;
  }

  async function bought(name: string, at = OLD): Promise<CreatedVideo> {
    const claim = await sent(name);
    const answer = answers.created(0);
    const { workflowId, runId } = claim;
    await journal.putOutcome(keyOf(name), 0, { v: 1, nonce: 'ours', at, answer });
    await journal.indexTask({ v: 1, ...keyOf(name), sendAttempt: 0, workflowId, runId, video: answer.video });
    return answer;
  }

  const prune = (
    inUse: (claim: ClaimIntent) => Promise<boolean> = async () => false,
    dryRun = false,
  ): Promise<Pruned> =>
    pruneJournal({ records: prunes, before: BEFORE, dryRun, inUse, now: () => Date.now() + later });
  const isThere = async (name: string): Promise<boolean> =>
    (await journal.read(keyOf(name), 0)).claim !== null;

  it('leaves the books of campaigns, however old', async () => {
    const log = bookLog('default', 'spring');
    const entry = { v: 1, kind: 'book', nonce: 'n', at: OLD, closed: 1, open: [], next: 1 } as const;
    await journal.putRecord(log, 0, entry);
    expect(await prune()).toEqual(NONE);
    expect(await journal.readRecord(log, 0)).toEqual(entry);
  });

  it('removes an old key whose fate is known, with everything that names it', async () => {
    const { video } = await bought('old');
    expect(await journal.findOpenByBody('body of old')).toHaveLength(1);
    expect(await prune()).toEqual({ ...NONE, keys: 1, removed: 1 });
    expect(await isThere('old')).toBe(false);
    expect(await journal.findTask(video.taskId)).toEqual([]);
    expect(await journal.findOpenByBody('body of old')).toEqual([]);
    // Nothing is left but the two first letters of each name.
    const left = await readdir(root, { recursive: true });
    expect(left.filter((name) => !/^(?:[0-9a-f]{2}|(?:open|tasks)(?:.[0-9a-f]{2})?)$/.test(name))).toEqual(
      [],
    );
  });

  it('removes every old key', async () => {
    await bought('old');
    await bought('older');
    // What stands in nobody's way: a key that was fenced off, of which no workflow can be asked.
    await journal.putClaim(keyOf('fenced'), 0, { v: 1, kind: 'fence', nonce: 'f', at: OLD });
    const asked: string[] = [];
    const counts = await prune(async ({ bodyHash }) => {
      asked.push(bodyHash);
      return false;
    });
    expect(counts).toEqual({ ...NONE, keys: 3, removed: 3 });
    expect(asked.sort()).toStrictEqual(['body of old', 'body of older']);
  });

  it('[C4.4a] keeps a key of which one send attempt waits for a decision, and one that is just as old as it may be', async () => {
    await sent('half open');
    await journal.putOutcome(keyOf('half open'), 0, {
      v: 1,
      nonce: 'n',
      at: OLD,
      answer: answers.rejected(0),
    });
    await journal.putClaim(keyOf('half open'), 1, claimIntent({ ...keyOf('half open'), at: OLD }));
    await bought('of that very moment', BEFORE.toISOString());
    const nobody = () => Promise.reject(new Error('asked about a key that stays anyway'));
    expect(await prune(nobody)).toEqual({ ...NONE, keys: 2, keptOpen: 1, keptYoung: 1 });
  });

  it('only counts when it is asked to', async () => {
    await bought('old');
    expect(await prune(undefined, true)).toEqual({ ...NONE, keys: 1, removed: 1 });
    expect(await isThere('old')).toBe(true);
  });

  it('[C4.4a] keeps what is young in any record, in use, or waits for a decision', async () => {
    await bought('decided yesterday', new Date(Date.now() - DAY).toISOString());
    await bought('of unreadable age', 'long ago');
    await sent('open');
    await sent('used', { workflowId: 'used' });
    await journal.putOutcome(keyOf('used'), 0, { v: 1, nonce: 'n', at: OLD, answer: answers.rejected(0) });
    const counts = await prune(async ({ workflowId }) => workflowId === 'used');
    expect(counts).toEqual({ ...NONE, keys: 4, keptYoung: 2, keptOpen: 1, keptRunning: 1 });
  });

  it('removes an old one that somebody has decided about', async () => {
    await sent('decided');
    const made = { v: 1, by: 'ada', reason: 'gone', answer: answers.rejected(0) } as const;
    await journal.putResolution(keyOf('decided'), 0, { ...made, decision: 'declareLost', at: OLD });
    expect(await prune()).toEqual({ ...NONE, keys: 1, removed: 1 });
  });

  it('[C4.4a] keeps a key that is used again while the server is asked about it', async () => {
    await bought('old');
    const counts = await prune(async () => {
      await journal.putClaim(keyOf('old'), 1, claimIntent({ at: new Date().toISOString() }));
      return false;
    });
    expect(counts).toEqual({ ...NONE, keys: 1, keptYoung: 1 });
    expect(await isThere('old')).toBe(true);
    expect((await journal.read(keyOf('old'), 1)).claim).not.toBeNull();
  });

  it('[C4.4a] keeps a key that is used again in the very moment in which its removal begins', async () => {
    const { video } = await bought('old');
    prunes = watched(async (name) => {
      if (name.endsWith('removal'))
        await journal.putClaim(keyOf('old'), 1, claimIntent({ at: new Date().toISOString() }));
    });
    expect(await prune()).toEqual({ ...NONE, keys: 1, keptYoung: 1 });
    for (const sendAttempt of [0, 1])
      expect((await journal.read(keyOf('old'), sendAttempt)).claim?.kind).toBe('intent');
    expect(await journal.findTask(video.taskId)).toHaveLength(1);
    expect(await journal.findOpenByBody('body of old')).toHaveLength(1);
    // Nothing of the removal is left: the key goes on.
    await journal.putOutcome(keyOf('old'), 1, { v: 1, nonce: 'n', at: OLD, answer: answers.rejected(1) });
    expect(await journal.putClaim(keyOf('old'), 2, claimIntent())).toBe('won');
  });

  it('[C4.4a] lets nobody take a later send attempt of a key that is being removed', async () => {
    await bought('old');
    const ends: unknown[] = [];
    prunes = watched(undefined, async (name) => {
      const claim = claimIntent({ at: new Date().toISOString(), nonce: `while ${name} goes` });
      ends.push(await journal.putClaim(keyOf('old'), 1, claim).catch((error: Error) => error.message));
    });
    expect(await prune()).toEqual({ ...NONE, keys: 1, removed: 1 });
    expect(ends.length).toBeGreaterThanOrEqual(5);
    for (const end of ends)
      expect(end).toMatch(/prune of the journal is removing|lost the send attempt before this one/);
  });

  it('[C4.4a] goes on with a removal that was killed at any point, and nobody takes the rest for a new key', async () => {
    for (let cut = 0; ; cut += 1) {
      const name = `old ${cut}`;
      later = 0;
      await bought(name);
      let left = cut;
      prunes = watched(undefined, async () => {
        if (left-- === 0) throw new Error('killed');
      });
      const ended = await prune().catch((error: Error) => error.message);
      if (ended !== 'killed') {
        expect(ended).toEqual({ ...NONE, keys: 1, removed: 1 });
        expect(cut).toBeGreaterThanOrEqual(5);
        break;
      }
      const isNew = !(await isThere(name));
      const young = claimIntent({ ...keyOf(name), nonce: 'young', at: new Date().toISOString() });
      expect(await journal.putClaim(keyOf(name), 0, young)).toBe(isNew ? 'won' : 'lost');
      // Only a first claim that the removal does not name proves that it is over.
      const next = journal.putClaim(keyOf(name), 1, young).catch(() => 'stopped');
      expect(await next).toBe(isNew ? 'won' : 'stopped');
      prunes = records;
      // While it may be under way, nobody else touches the key.
      expect(await prune()).toMatchObject({ removed: 0 });
      later = 2 * 3_600_000;
      expect(await prune()).toEqual({ ...NONE, keys: 1, ...(isNew ? { keptYoung: 1 } : { removed: 1 }) });
      if (isNew) await rm(root, { recursive: true });
      expect((await journal.scan(null, 10)).keys).toEqual([]);
    }
  });

  it('[C4.4a] leaves nothing behind that stops a key that is used anew', async () => {
    await bought('old');
    prunes = watched(undefined, async (name) => {
      if (name.endsWith('removal')) throw new Error('killed');
    });
    await expect(prune()).rejects.toThrow('killed');
    const young = (nonce: string) => claimIntent({ ...keyOf('old'), nonce, at: new Date().toISOString() });
    await expect(journal.putClaim(keyOf('old'), 1, young('too early'))).rejects.toThrow('prune');
    expect(await journal.putClaim(keyOf('old'), 0, young('anew'))).toBe('won');
    const refused = { v: 1, nonce: 'anew', at: OLD, answer: answers.rejected(0, 'credentials') } as const;
    await journal.putOutcome(keyOf('old'), 0, refused);
    expect(await journal.putClaim(keyOf('old'), 1, young('after the refusal'))).toBe('won');
    prunes = records;
    later = 2 * 3_600_000;
    expect(await prune()).toEqual({ ...NONE, keys: 1, keptYoung: 1 });
    expect((await journal.read(keyOf('old'), 1)).claim?.nonce).toBe('after the refusal');
  });

  it('[C4.4a] asks about a key again that a killed removal left whole, and judges one anew that was used since', async () => {
    await bought('asked for');
    prunes = watched(undefined, async () => {
      throw new Error('killed');
    });
    await expect(prune()).rejects.toThrow('killed');
    prunes = records;
    later = 2 * 3_600_000;
    expect(await prune(async () => true)).toEqual({ ...NONE, keys: 1, keptRunning: 1 });
    // Removed but for the note, and bought again under its id: that nobody knows its fate must not be lost.
    const hash = (await records.names('keys/', null, 10))[0]!.split('/')[2]!;
    for (const name of await records.names(`keys/${hash.slice(0, 2)}/${hash}/`, null, 10))
      if (!name.endsWith('removal')) await records.remove(name);
    await sent('asked for', { nonce: 'another' });
    expect(await prune()).toEqual({ ...NONE, keys: 1, keptYoung: 1 });
    expect(await prune()).toEqual({ ...NONE, keys: 1, keptOpen: 1 });
    expect(await isThere('asked for')).toBe(true);
  });

  it('[C4.4a] lets one of two prunes remove a key', async () => {
    await bought('old');
    const both = await Promise.all([prune(), prune()]);
    expect(both.reduce((sum, { removed }) => sum + removed, 0)).toBe(1);
    expect((await journal.scan(null, 10)).keys).toEqual([]);
  });

  it('[C4.4a] takes nothing of a key away that a writer goes on with: a later send attempt never stands alone', async () => {
    await sent('refused');
    const over = { v: 1, nonce: 'ours', at: OLD, answer: answers.rejected(0, 'credentials') } as const;
    await journal.putOutcome(keyOf('refused'), 0, over);
    // The writer has read the refusal, and the key is removed before it takes the next send attempt.
    expect(await prune()).toEqual({ ...NONE, keys: 1, removed: 1 });
    await expect(journal.putClaim(keyOf('refused'), 1, claimIntent({ at: OLD }))).rejects.toThrow();
    expect((await journal.scan(null, 10)).keys).toEqual([]);
    // As a new key it begins with its first send attempt.
    expect(await journal.putClaim(keyOf('refused'), 0, claimIntent({ at: OLD }))).toBe('won');
    expect(await journal.putClaim(keyOf('refused'), 1, claimIntent({ at: OLD }))).toBe('won');
  });

  it('[C4.4a] keeps what has no claim yet', async () => {
    await journal.putOutcome(keyOf('early'), 0, { v: 1, nonce: 'n', at: OLD, answer: answers.created(0) });
    expect(await prune()).toEqual({ ...NONE, keys: 1, keptYoung: 1 });
    expect((await journal.read(keyOf('early'), 0)).outcome).not.toBeNull();
  });

  it('finds every key exactly once, page by page', async () => {
    const names = Array.from({ length: 7 }, (_, index) => `key-${index}`);
    for (const name of names) await sent(name);
    const seen: unknown[] = [];
    const sizes: number[] = [];
    for (let after: string | null = null; ;) {
      const page = await journal.scan(after, 3);
      sizes.push(page.keys.length);
      for (const { sendAttempts } of page.keys)
        for (const { claim } of sendAttempts) seen.push(claim?.kind === 'intent' ? claim.creationKey : null);
      if (page.next === null) break;
      after = page.next;
    }
    expect(sizes).toEqual([3, 3, 1]);
    expect(seen.sort()).toEqual(names);
  });
});
