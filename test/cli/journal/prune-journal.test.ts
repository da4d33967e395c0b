import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Pruned, pruneJournal } from '../../../packages/cli/src/journal/prune-journal';
import { bookLog } from '../../../src/domain/campaign/budget-book';
import { type CreateJournal } from '../../../src/domain/journal';
import { type IntentEntry, type SenderEntry } from '../../../src/domain/log-entries';
import { type CreatedVideo } from '../../../src/domain/paid-call';
import { createJournal } from '../../../src/stores/journal/create-journal';
import { createFileRecords } from '../../../src/stores/journal/file-journal';
import { type RecordStore } from '../../../src/stores/journal/record-store';
import { keyPrefix } from '../../../src/stores/journal/records';
import { answers } from '../../domain/create-answers';
import { answerEntry, decisionEntry, fenceEntry, intentEntry, lostEntry } from '../../support/log-entries';

const DAY = 24 * 60 * 60_000;
const OLD = new Date(Date.now() - 100 * DAY).toISOString();
const BEFORE = new Date(Date.now() - 90 * DAY);
const NONE = { keys: 0, removed: 0, keptOpen: 0, keptRunning: 0, keptYoung: 0, keptBilled: 0 };

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

  async function sent(name: string, changes: Partial<IntentEntry> = {}): Promise<IntentEntry> {
    const intent = intentEntry({ ...keyOf(name), bodyHash: `body of ${name}`, at: OLD, ...changes });
    await journal.append(keyOf(name), 0, intent);
    return intent;
  }

  async function bought(name: string, at = OLD): Promise<CreatedVideo> {
    const { workflowId, runId } = await sent(name);
    const answer = answers.created(0);
    await journal.append(keyOf(name), 1, answerEntry(answer, { at }));
    await journal.indexTask({ v: 1, ...keyOf(name), sendAttempt: 0, workflowId, runId, video: answer.video });
    return answer;
  }

  const refused = (name: string, n: number, nonce = 'ours') =>
    journal.append(keyOf(name), n, answerEntry(answers.rejected(0, 'credentials'), { at: OLD, nonce }));

  const prune = (
    inUse: (entry: SenderEntry) => Promise<boolean> = async () => false,
    dryRun = false,
  ): Promise<Pruned> =>
    pruneJournal({ records: prunes, before: BEFORE, dryRun, inUse, now: () => Date.now() + later });
  const isThere = async (name: string): Promise<boolean> =>
    (await records.names(keyPrefix(keyOf(name)), null, 10)).some((one) => one.endsWith('/0.entry'));
  const young = (name: string, nonce = 'young'): IntentEntry =>
    intentEntry({ ...keyOf(name), nonce, at: new Date().toISOString() });

  it('leaves the books of campaigns, however old', async () => {
    const log = bookLog('default', 'spring');
    const entry = {
      v: 1,
      kind: 'book',
      nonce: 'n',
      at: OLD,
      closed: 1,
      billed: 0,
      open: [],
      next: 1,
    } as const;
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
    // What stands in nobody's way: a sender that was fenced off.
    await journal.append(keyOf('fenced'), 0, fenceEntry({ at: OLD, workflowId: 'of the fenced' }));
    const asked: unknown[] = [];
    const counts = await prune(async ({ workflowId }) => {
      asked.push(workflowId);
      return false;
    });
    expect(counts).toEqual({ ...NONE, keys: 3, removed: 3 });
    expect(asked.sort()).toStrictEqual(['of the fenced', 'wf', 'wf']);
  });

  it('asks about every send of a log, also one that this journal did not see', async () => {
    await bought('old');
    await journal.append(
      keyOf('old'),
      2,
      lostEntry({ ...keyOf('old'), nonce: 'unseen', sender: 'unseen', at: OLD, workflowId: 'x' }),
    );
    await journal.append(keyOf('old'), 3, decisionEntry({ about: 'unseen', at: OLD }));
    const asked: unknown[] = [];
    const counts = await prune(async ({ sender, workflowId }) => {
      asked.push([sender, workflowId]);
      return workflowId === 'x';
    });
    expect(asked).toEqual([
      ['run/1', 'wf'],
      ['unseen', 'x'],
    ]);
    expect(counts).toEqual({ ...NONE, keys: 1, keptRunning: 1 });
  });

  it('[C4.4a] keeps a key of which one send waits for a decision, and one that is just as old as it may be', async () => {
    await sent('half open');
    await refused('half open', 1);
    await journal.append(
      keyOf('half open'),
      2,
      intentEntry({ ...keyOf('half open'), at: OLD, nonce: 'next' }),
    );
    await journal.append(keyOf('unseen'), 0, lostEntry({ ...keyOf('unseen'), at: OLD }));
    await bought('of that very moment', BEFORE.toISOString());
    const nobody = () => Promise.reject(new Error('asked about a key that stays anyway'));
    expect(await prune(nobody)).toEqual({ ...NONE, keys: 3, keptOpen: 2, keptYoung: 1 });
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
    await refused('used', 1);
    const counts = await prune(async ({ workflowId }) => workflowId === 'used');
    expect(counts).toEqual({ ...NONE, keys: 4, keptYoung: 2, keptOpen: 1, keptRunning: 1 });
  });

  it('removes an old one that somebody has decided about', async () => {
    await sent('decided');
    await journal.append(keyOf('decided'), 1, answerEntry(answers.unconfirmed(0), { at: OLD }));
    const answer = answers.rejected(0, 'declared_lost');
    await journal.append(keyOf('decided'), 2, decisionEntry({ decision: 'declareLost', answer, at: OLD }));
    expect(await prune()).toEqual({ ...NONE, keys: 1, removed: 1 });
  });

  it('[C4.4a] keeps a key that is used again while the server is asked about it, whatever its clock says', async () => {
    for (const at of [new Date().toISOString(), OLD]) {
      const name = `used ${at}`;
      await sent(name);
      await refused(name, 1);
      const counts = await prune(async () => {
        await journal.append(keyOf(name), 2, { ...young(name), at });
        return false;
      });
      expect(counts).toMatchObject({ removed: 0 });
      expect(await journal.read(keyOf(name))).toHaveLength(3);
      await rm(root, { recursive: true });
    }
  });

  it('[C4.4a] keeps a key that is used again in the very moment in which its removal begins', async () => {
    const { video } = await bought('old');
    prunes = watched(async (name) => {
      if (name.endsWith('removal')) await journal.append(keyOf('old'), 2, young('old'));
    });
    expect(await prune()).toEqual({ ...NONE, keys: 1, keptYoung: 1 });
    const kinds = (await journal.read(keyOf('old'))).map(({ kind }) => kind);
    expect(kinds).toEqual(['intent', 'answer', 'intent']);
    expect(await journal.findTask(video.taskId)).toHaveLength(1);
    expect(await journal.findOpenByBody('body of old')).toHaveLength(1);
    // Nothing of the removal is left: the key goes on.
    await refused('old', 3, 'young');
    expect(await journal.append(keyOf('old'), 4, young('old', 'next'))).toBe('won');
  });

  it('[C4.4a] lets nobody append to a key that is being removed', async () => {
    await bought('old');
    const ends: unknown[] = [];
    prunes = watched(undefined, async (name) => {
      const entries = [
        { ...young('old'), nonce: `while ${name} goes` },
        fenceEntry({ sender: `while ${name} goes` }),
        decisionEntry(),
        lostEntry({ nonce: `while ${name} goes` }),
      ];
      for (const entry of entries)
        ends.push(await journal.append(keyOf('old'), 2, entry).catch((error: Error) => error.message));
    });
    expect(await prune()).toEqual({ ...NONE, keys: 1, removed: 1 });
    expect(ends.length).toBeGreaterThanOrEqual(5);
    for (const end of ends) expect(end).toMatch(/journal prune is removing|has lost an earlier entry/);
  });

  it('[C4.4a] no part of a log that is being removed allows a send', async () => {
    const name = 'refused and bought';
    await sent(name);
    await refused(name, 1);
    await journal.append(keyOf(name), 2, intentEntry({ ...keyOf(name), at: OLD, nonce: 'next' }));
    await journal.append(keyOf(name), 3, answerEntry(answers.created(1), { at: OLD, nonce: 'next' }));
    const seen: number[] = [];
    prunes = watched(undefined, async () => {
      const log = await journal.read(keyOf(name));
      seen.push(log.length);
      if (log.length > 0)
        await expect(journal.append(keyOf(name), log.length, young(name))).rejects.toThrow(/prune|has lost/);
    });
    expect(await prune()).toEqual({ ...NONE, keys: 1, removed: 1 });
    // Pointers, then the entries from the last one on, then the note: every part was read.
    expect(new Set(seen)).toEqual(new Set([4, 3, 2, 1, 0]));
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
      expect(await journal.append(keyOf(name), 0, young(name))).toBe(isNew ? 'won' : 'lost');
      // Only a first entry that the removal does not name proves that it is over.
      const next = journal.append(keyOf(name), isNew ? 1 : 2, young(name, 'next')).catch(() => 'stopped');
      expect(await next).toBe(isNew ? 'won' : 'stopped');
      prunes = records;
      // While it may be under way, nobody else touches the key.
      expect(await prune()).toMatchObject({ removed: 0 });
      later = 2 * 3_600_000;
      expect(await prune()).toEqual({ ...NONE, keys: 1, ...(isNew ? { keptYoung: 1 } : { removed: 1 }) });
      if (isNew) await rm(root, { recursive: true });
      expect((await journal.scan(null, 10)).logs).toEqual([]);
    }
  });

  it('[C4.4a] leaves nothing behind that stops a key that is used anew', async () => {
    await bought('old');
    prunes = watched(undefined, async (name) => {
      if (name.endsWith('removal')) throw new Error('killed');
    });
    await expect(prune()).rejects.toThrow('killed');
    await expect(journal.append(keyOf('old'), 1, young('old', 'too early'))).rejects.toThrow('prune');
    expect(await journal.append(keyOf('old'), 0, young('old', 'anew'))).toBe('won');
    await refused('old', 1, 'anew');
    expect(await journal.append(keyOf('old'), 2, young('old', 'after the refusal'))).toBe('won');
    prunes = records;
    later = 2 * 3_600_000;
    expect(await prune()).toEqual({ ...NONE, keys: 1, keptYoung: 1 });
    const [, , last] = await journal.read(keyOf('old'));
    expect(last).toMatchObject({ nonce: 'after the refusal' });
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
    for (const name of await records.names(keyPrefix(keyOf('asked for')), null, 10))
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
    expect((await journal.scan(null, 10)).logs).toEqual([]);
  });

  it('[C4.4a] lets one prune go on with one that was killed, also where another hour begins meanwhile', async () => {
    await bought('old');
    prunes = watched(undefined, async (name) => {
      if (name.endsWith('1.entry')) throw new Error('killed');
    });
    await expect(prune()).rejects.toThrow('killed');
    later = 2 * 3_600_000;
    let second: Pruned | undefined;
    prunes = watched(undefined, async () => {
      prunes = records;
      later += 20 * 60_000;
      second ??= await prune();
      later -= 20 * 60_000;
    });
    expect(await prune()).toEqual({ ...NONE, keys: 1, removed: 1 });
    expect(second).toEqual({ ...NONE, keys: 1, keptYoung: 1 });
  });

  it('[C4.4a] removes nothing more when it stood still: another one may have ended its work, and the key be used anew', async () => {
    await bought('old');
    prunes = watched(undefined, async (name) => {
      if (!name.endsWith('1.entry')) return;
      // For two hours, in which another prune goes on, and the key is used again.
      later = 2 * 3_600_000;
      prunes = records;
      expect(await prune()).toEqual({ ...NONE, keys: 1, removed: 1 });
      await journal.append(keyOf('old'), 0, young('old'));
    });
    await expect(prune()).rejects.toThrow('took longer than half an hour');
    expect(await journal.read(keyOf('old'))).toMatchObject([{ nonce: young('old').nonce }]);
  });

  it('[C4.4a] takes nothing of a key away that a writer goes on with: a later entry never stands alone', async () => {
    await sent('refused');
    await refused('refused', 1);
    // The writer has read the refusal, and the key is removed before it appends the next intent.
    expect(await prune()).toEqual({ ...NONE, keys: 1, removed: 1 });
    const next = intentEntry({ ...keyOf('refused'), at: OLD });
    await expect(journal.append(keyOf('refused'), 2, next)).rejects.toThrow();
    expect((await journal.scan(null, 10)).logs).toEqual([]);
    // As a new key it begins with its first entry.
    expect(await journal.append(keyOf('refused'), 0, next)).toBe('won');
    expect(await journal.append(keyOf('refused'), 1, next)).toBe('won');
  });

  it('[C4.4a] keeps a log of which an entry is missing: nobody knows what it said', async () => {
    await journal.append(keyOf('early'), 1, answerEntry(answers.created(0), { at: OLD }));
    for (let n = 0; n < 3; n++)
      await journal.append(keyOf('torn'), n, fenceEntry({ sender: `s${n}`, at: OLD }));
    await records.remove(`${keyPrefix(keyOf('torn'))}1.entry`);
    expect(await prune()).toEqual({ ...NONE, keys: 2, keptOpen: 2 });
    expect((await journal.scan(null, 10)).logs).toHaveLength(2);
  });

  it('finds every key exactly once, page by page', async () => {
    const names = Array.from({ length: 7 }, (_, index) => `key-${index}`);
    for (const name of names) await sent(name);
    const seen: unknown[] = [];
    const sizes: number[] = [];
    for (let after: string | null = null; ;) {
      const page = await journal.scan(after, 3);
      sizes.push(page.logs.length);
      for (const [first] of page.logs) seen.push(first?.kind === 'intent' ? first.creationKey : null);
      if (page.next === null) break;
      after = page.next;
    }
    expect(sizes).toEqual([3, 3, 1]);
    expect(seen.sort()).toEqual(names);
  });
});
