import fs, { mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { bookLog } from '../../src/domain/campaign/budget-book';
import { type CreateJournal, type ClaimIntent } from '../../src/domain/journal';
import { type CreatedVideo } from '../../src/domain/paid-call';
import { createFileJournal, keyFolder } from '../../src/journal/file-journal';
import { type Pruned, pruneJournal } from '../../src/journal/prune-journal';
import { claimIntent } from '../activities/claim-intent';
import { answers } from '../domain/create-answers';

const DAY = 24 * 60 * 60_000;
const OLD = new Date(Date.now() - 100 * DAY).toISOString();
const BEFORE = new Date(Date.now() - 90 * DAY);
const NONE = { keys: 0, removed: 0, keptOpen: 0, keptRunning: 0, keptYoung: 0 };

/** A key that goes too early buys again; one that goes in part reads as "nothing was sent here". */
describe('pruning a journal', () => {
  let root: string;
  let journal: CreateJournal;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'temporal-media-prune-'));
    journal = createFileJournal({ root });
  });
  afterEach(() => {
    jest.restoreAllMocks();
    return rm(root, { recursive: true, force: true });
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
  ): Promise<Pruned> => pruneJournal({ root, before: BEFORE, dryRun, inUse });
  const isThere = async (name: string): Promise<boolean> =>
    (await journal.read(keyOf(name), 0)).claim !== null;
  const trash = (): Promise<string[]> => readdir(join(root, 'trash')).catch(() => []);

  it('leaves the books of campaigns, however old', async () => {
    const log = bookLog('default', 'spring');
    const entry = { v: 1, kind: 'book', nonce: 'n', at: OLD, closed: 1, open: [], next: 1 } as const;
    await journal.putRecord(log, 0, entry);
    expect(await pruneJournal({ root, before: BEFORE, dryRun: false, inUse: async () => false })).toEqual(
      NONE,
    );
    expect(await journal.readRecord(log, 0)).toEqual(entry);
  });

  it('removes an old key whose fate is known, with everything that names it', async () => {
    const { video } = await bought('old');
    expect(await journal.findOpenByBody('body of old')).toHaveLength(1);
    expect(await prune()).toEqual({ ...NONE, keys: 1, removed: 1 });
    expect(await isThere('old')).toBe(false);
    expect(await journal.findTask(video.taskId)).toEqual([]);
    expect(await journal.findOpenByBody('body of old')).toEqual([]);
    expect(await trash()).toEqual([]);
  });

  it('removes every old key, and nobody else may look into the trash meanwhile', async () => {
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
    expect((await stat(join(root, 'trash'))).mode & 0o777).toBe(0o700);
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
    const made = { v: 1, decisionId: 'd', by: 'ada', reason: 'gone', answer: answers.rejected(0) } as const;
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
    // It was not even taken away for a moment, in which a caller would have found nothing.
    expect(await readdir(root)).not.toContain('trash');
  });

  it('[C4.4a] puts a key back that is used again in the very moment in which it is taken away', async () => {
    const { video } = await bought('old');
    const rename = fs.rename;
    jest.spyOn(fs, 'rename').mockImplementationOnce(async (from, to) => {
      await journal.putClaim(keyOf('old'), 1, claimIntent({ at: new Date().toISOString() }));
      await rename(from, to);
    });
    expect(await prune()).toEqual({ ...NONE, keys: 1, keptYoung: 1 });
    for (const sendAttempt of [0, 1])
      expect((await journal.read(keyOf('old'), sendAttempt)).claim?.kind).toBe('intent');
    expect(await trash()).toEqual([]);
    expect(await journal.findTask(video.taskId)).toHaveLength(1);
    expect(await journal.findOpenByBody('body of old')).toHaveLength(1);
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

  it('[C4.4a] keeps a folder that is about to get its first claim', async () => {
    const hash = 'a'.repeat(64);
    await mkdir(join(root, 'aa', hash), { recursive: true });
    expect(await prune()).toEqual({ ...NONE, keys: 1, keptYoung: 1 });
    expect(await readdir(join(root, 'aa'))).toEqual([hash]);
  });

  it('empties what a prune that was killed has left in the trash', async () => {
    await mkdir(join(root, 'trash', 'left'), { recursive: true });
    await writeFile(join(root, 'trash', 'left', '0.claim'), '{}');
    expect(await prune(undefined, true)).toEqual(NONE);
    expect(await trash()).toEqual(['left']);
    expect(await prune()).toEqual(NONE);
    expect(await trash()).toEqual([]);
  });

  it('removes from the trash what is old, what has lost its claims, and what is no key of ours', async () => {
    await bought('old');
    const hash = basename(keyFolder(root, keyOf('old')));
    await mkdir(join(root, 'trash'));
    await rename(keyFolder(root, keyOf('old')), join(root, 'trash', `${hash}.1`));
    const young = JSON.stringify(claimIntent({ at: new Date().toISOString() }));
    for (const [folder, file] of [
      [`${hash}.2`, '0.outcome'],
      [`x${hash}.3`, '0.claim'],
    ] as const) {
      await mkdir(join(root, 'trash', folder));
      await writeFile(join(root, 'trash', folder, file), young);
    }
    expect(await prune()).toEqual(NONE);
    expect(await trash()).toEqual([]);
  });

  it('[C4.4a] says that it cannot put a record back, and leaves it where it is', async () => {
    const hash = 'b'.repeat(64);
    const taken = join(root, 'trash', `${hash}.1`);
    // Nobody can link a folder.
    await mkdir(join(taken, '1.claim.folder'), { recursive: true });
    await writeFile(join(taken, '0.claim'), JSON.stringify(claimIntent({ at: new Date().toISOString() })));
    await expect(prune()).rejects.toThrow();
    expect(await readdir(taken)).toContain('0.claim');
  });

  it('[C4.4a] puts back what a killed prune took away in the moment in which it was used again', async () => {
    await bought('old');
    const place = keyFolder(root, keyOf('old'));
    const taken = join(root, 'trash', `${basename(place)}.1`);
    await mkdir(join(root, 'trash'));
    await rename(place, taken);
    const late = claimIntent({ ...keyOf('old'), at: new Date().toISOString() });
    await writeFile(join(taken, '1.claim'), JSON.stringify(late));
    // A writer that had read it before has made its folder anew.
    await mkdir(place, { recursive: true });
    await writeFile(join(place, '1.claim'), JSON.stringify({ ...late, nonce: 'of the writer' }));
    await writeFile(
      join(place, '1.outcome'),
      JSON.stringify({ v: 1, nonce: 'ours', at: OLD, answer: answers.created(1) }),
    );
    expect(await prune()).toEqual({ ...NONE, keys: 1, keptYoung: 1 });
    expect(await trash()).toEqual([]);
    for (const sendAttempt of [0, 1]) {
      const { claim, outcome } = await journal.read(keyOf('old'), sendAttempt);
      expect([claim?.kind, outcome?.answer.outcome]).toEqual(['intent', 'created']);
      // What the writer wrote stays.
      expect(claim?.nonce).toBe(sendAttempt === 1 ? 'of the writer' : 'ours');
    }
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
