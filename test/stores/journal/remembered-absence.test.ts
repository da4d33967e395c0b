import fs from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { fenceBatch, payerRefusal } from '../../../src/activities/admission';
import { unreadBase } from '../../../src/activities/paid-answers';
import { batchLog } from '../../../src/domain/campaign/budget-book';
import { bareFiles } from '../../../src/stores/files/durable-files';
import { createFileJournal } from '../../../src/stores/journal/file-journal';
import { intentEntry, LOG_KEY } from '../../support/log-entries';

const gone = (path: string): Error => Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' });

/**
 * The file system of one host among several: it remembers what was not there, files and folders, for some seconds. A
 * listing of a folder that it knows is as of now.
 */
class Remembering {
  private readonly absent = new Set<string>();
  private isAsked = false;

  /** @param refreshes whether a listing also corrects what is remembered of the names in it */
  constructor(private readonly refreshes: boolean) {
    this.makes();
    const { readdir } = fs.promises;
    const { read } = bareFiles;
    const list = async (folder: string, ...options: unknown[]) => {
      const names = await this.look(folder, () =>
        (readdir as (...all: unknown[]) => Promise<unknown[]>)(folder, ...options),
      );
      if (this.isAsked && this.refreshes)
        for (const path of this.absent)
          if (names.some((name) => join(folder, nameOf(name)) === path)) this.absent.delete(path);
      return names;
    };
    jest.spyOn(fs.promises, 'readdir').mockImplementation(list as typeof readdir);
    jest
      .spyOn(bareFiles, 'read')
      .mockImplementation(((file: string, ...options: unknown[]) =>
        this.look(file, () =>
          (read as (...all: unknown[]) => Promise<string>)(file, ...options),
        )) as typeof read);
  }

  /** A host that makes something knows of it. */
  private makes(): void {
    const { mkdir, link } = fs.promises;
    jest.spyOn(fs.promises, 'mkdir').mockImplementation((async (
      folder: string,
      options: fs.MakeDirectoryOptions,
    ) => {
      if (this.isAsked) for (let at = folder; at !== dirname(at); at = dirname(at)) this.absent.delete(at);
      return mkdir(folder, options);
    }) as typeof mkdir);
    jest.spyOn(fs.promises, 'link').mockImplementation(async (from, to) => {
      if (this.isAsked) this.absent.delete(String(to));
      return link(from, to);
    });
  }

  /** What this host does. What is done outside of it is done by another one. */
  async on<T>(work: () => Promise<T>): Promise<T> {
    this.isAsked = true;
    return work().finally(() => (this.isAsked = false));
  }

  private async look<T>(path: string, work: () => Promise<T>): Promise<T> {
    if (!this.isAsked) return work();
    for (let at = path; at !== dirname(at); at = dirname(at)) if (this.absent.has(at)) throw gone(path);
    try {
      return await work();
    } catch (error) {
      // The first part of the path that is not there is what was looked up in vain.
      for (let at = path; ; at = dirname(at))
        if (fs.existsSync(dirname(at))) {
          this.absent.add(at);
          break;
        }
      throw error;
    }
  }
}

const nameOf = (entry: unknown): string =>
  typeof entry === 'string' ? entry : (entry as { name: string }).name;

/** A host that takes what another one has just written for absent spends money that is settled, or settles too little. */
describe.each([
  ['and corrects it by a listing', true],
  ['whatever it lists', false],
])('a shared folder whose file system remembers what was not there, %s', (_, refreshes) => {
  let root: string;
  let host: Remembering;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'temporal-media-absence-'));
    host = new Remembering(refreshes);
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await rm(root, { recursive: true });
  });

  const journal = () => createFileJournal({ root: `${root}/`, shared: true });
  /** What a look may come to: the truth, or a failure that is tried again. */
  const seen = async <T>(look: () => Promise<T>): Promise<T | 'fails'> =>
    host.on(look).catch((error: Error) => {
      expect(error.message).toMatch('caches that the file did not exist');
      return 'fails';
    });

  it('sends nothing out of the money of a batch that another host has closed', async () => {
    const payer = 'spring/batch/0';
    const stops = () =>
      host.on(() =>
        new MockActivityEnvironment().run(() =>
          payerRefusal(journal(), payer, { namespace: 'default', runId: 'run' }, unreadBase('a')),
        ),
      );
    for (const _row of [1, 2]) expect(await stops()).toBeUndefined();
    await fenceBatch(journal(), 'default', payer);
    expect(await stops()).toMatchObject({
      outcome: 'not_sent',
      cause: refreshes ? 'batch_closed' : 'journal_unavailable',
    });
  });

  it('misses no record, mark or entry of another host', async () => {
    const log = batchLog('default', 'spring/batch/0');
    const looks = [
      () => journal().read(LOG_KEY),
      () => journal().readRecord(log, 0),
      () => journal().hasMark('one'),
    ];
    const all = async (): Promise<unknown[]> => {
      const found = [];
      for (const look of looks) found.push(await seen<unknown>(look));
      return found;
    };
    for (const _time of [1, 2]) expect(await all()).toEqual([[], null, false]);
    await journal().append(LOG_KEY, 0, intentEntry());
    await journal().putRecord(log, 0, { v: 1, kind: 'batch', nonce: 'n', at: '', rows: [] });
    await journal().putMark('one');
    expect(await all()).toMatchObject(
      refreshes ? [[intentEntry()], { kind: 'batch' }, true] : ['fails', 'fails', 'fails'],
    );
  });
});
