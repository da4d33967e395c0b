import {
  append,
  claimTask,
  indexCreated,
  type KeyLog,
  openLog,
  recordAnswer,
} from '../../src/activities/key-log';
import { type CreateJournal, NO_JOURNAL, type TaskIndexEntry } from '../../src/domain/journal';
import { type LogEntry } from '../../src/domain/log-entries';
import { stateOf } from '../../src/domain/paid-log';
import { answers } from '../domain/create-answers';
import { answerEntry, decisionEntry, fenceEntry, intentEntry, LOG_KEY } from '../support/log-entries';

const START = 1_000_000;

/** A journal that answers as it is told. */
function scripted(parts: Partial<CreateJournal>): CreateJournal {
  const untold = (name: string) => () => Promise.reject(new Error(`${name} was not expected`));
  return {
    kind: 's3',
    identity: untold('identity'),
    sealingKey: untold('sealingKey'),
    putMark: untold('putMark'),
    hasMark: untold('hasMark'),
    read: untold('read'),
    append: untold('append'),
    scan: untold('scan'),
    findOpenByBody: untold('findOpenByBody'),
    forgetOpen: untold('forgetOpen'),
    indexTask: untold('indexTask'),
    findTask: untold('findTask'),
    readRecord: untold('readRecord'),
    putRecord: untold('putRecord'),
    checkWritable: untold('checkWritable'),
    ...parts,
  };
}

/** A journal with one log. `grow` runs before each append, and may write first, fail, or leave the log to others. */
function logged(
  entries: LogEntry[],
  grow: (n: number, entry: LogEntry) => Promise<void> | void = () => undefined,
): CreateJournal & { readonly forgotten: string[] } {
  const forgotten: string[] = [];
  const journal = scripted({
    read: async () => structuredClone(entries),
    append: async (_, n, entry) => {
      await grow(n, entry);
      if (n < entries.length) return 'lost';
      entries.push(JSON.parse(JSON.stringify(entry)) as LogEntry);
      return 'won';
    },
    forgetOpen: async (_, bodyHash) => void forgotten.push(bodyHash),
  });
  return { ...journal, forgotten };
}

const logOf = (...entries: readonly LogEntry[]): KeyLog => ({
  key: LOG_KEY,
  entries,
  state: stateOf(entries),
});

describe('an entry behind those that were read', () => {
  const intent = intentEntry();
  const theirs = intentEntry({ nonce: 'theirs' });

  it('reads nothing back after a clean win, and makes the log longer', async () => {
    const journal = scripted({ append: async () => 'won' });
    const appended = await append(journal, logOf(), intent);
    expect(appended).toEqual({ is: 'won', log: logOf(intent) });
  });

  it.each<[string, 'lost' | Error, readonly LogEntry[], string | Error]>([
    ['lost to another', 'lost', [theirs], 'lost'],
    ['lost, and ours', 'lost', [intent], 'won'],
    ['lost, and gone', 'lost', [], 'lost'],
    ['failed, and ours', new Error('away'), [intent], 'unsure'],
    ['failed, and of another', new Error('away'), [theirs], new Error('away')],
    ['failed, and of nobody', new Error('away'), [], new Error('away')],
  ])('[C4.4a] that is %s is read back', async (_, end, stands, expected) => {
    const journal = scripted({
      append: async () => {
        if (end instanceof Error) throw end;
        return end;
      },
      read: async () => stands,
    });
    const appended = append(journal, logOf(), intent);
    if (expected instanceof Error) await expect(appended).rejects.toThrow(expected);
    else expect((await appended).is).toBe(expected);
  });

  it.each<[string, LogEntry, LogEntry]>([
    ['an answer to the same send', answerEntry(answers.created(0)), answerEntry(answers.unconfirmed(0))],
    [
      'a decision about the same send',
      decisionEntry({ decision: 'resubmit' }),
      decisionEntry({ decision: 'declareLost', answer: answers.rejected(0, 'declared_lost') }),
    ],
    ['the decision of another person', decisionEntry({ by: 'ada' }), decisionEntry({ by: 'bob' })],
  ])('[C4.4a] is not taken for %s in the same millisecond', async (_, ours, standing) => {
    const journal = scripted({ append: async () => 'lost', read: async () => [intent, standing] });
    expect(await append(journal, logOf(intent), ours)).toEqual({ is: 'lost', log: logOf(intent, standing) });
  });

  it('without a journal is always written, and an empty log is read', async () => {
    expect(await openLog(NO_JOURNAL, LOG_KEY)).toEqual(logOf());
    expect(await append(NO_JOURNAL, logOf(), intent)).toEqual({ is: 'won', log: logOf(intent) });
  });
});

describe('recording what a send came to', () => {
  beforeEach(() => {
    jest.useFakeTimers({ now: START });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const created = answers.created(0);
  const at = new Date(START).toISOString();

  it('writes it behind the intent, with its name and the time, and forgets that the body is open', async () => {
    const entries: LogEntry[] = [intentEntry()];
    const journal = logged(entries);
    const { recorded, log } = await recordAnswer(journal, logOf(...entries), 'ours', created);
    expect(recorded).toBe(true);
    expect(entries.slice(1)).toEqual([{ v: 1, kind: 'answer', nonce: 'ours', at, answer: created }]);
    expect(log.state.bought).toBe(0);
    expect(journal.forgotten).toEqual([intentEntry().bodyHash]);
  });

  it('does not forget a body whose fate is unknown', async () => {
    const entries: LogEntry[] = [intentEntry()];
    const journal = logged(entries);
    await recordAnswer(journal, logOf(...entries), 'ours', answers.unconfirmed(0));
    expect(journal.forgotten).toEqual([]);
  });

  it('[C5.4c] keeps the words of the service out of the journal', async () => {
    const error = { kind: 'moderation' as const, code: 'blocked', message: 'a prompt, echoed' };
    const entries: LogEntry[] = [intentEntry()];
    await recordAnswer(logged(entries), logOf(...entries), 'ours', { ...answers.rejected(0), error });
    expect(entries[1]).toMatchObject({
      answer: { error: { kind: 'moderation', code: 'blocked', message: null } },
    });
    expect(JSON.stringify(entries)).not.toContain('echoed');
  });

  it.each<[string, LogEntry, string]>([
    ['that its fate is unknown, by a reconciliation', answerEntry(answers.unconfirmed(0)), 'answer'],
    ['a fence of another sender', fenceEntry({ sender: 'another' }), 'fence'],
  ])('goes behind what came first: %s', async (_, first, kind) => {
    const entries: LogEntry[] = [intentEntry()];
    const journal = logged(entries, (n) => void (n === 1 && entries.length === 1 && entries.push(first)));
    const { recorded, log } = await recordAnswer(journal, logOf(intentEntry()), 'ours', created);
    expect(recorded).toBe(true);
    expect(entries.map((entry) => entry.kind)).toEqual(['intent', kind, 'answer']);
    expect(log.state).toEqual(stateOf(entries));
    expect(log.state.bought).toBe(0);
  });

  it('tries four times, waiting longer each time, and then says that it is not recorded', async () => {
    const times: number[] = [];
    const fault = new Error('the disk is away');
    const journal = logged([intentEntry()], () => {
      times.push(Date.now() - START);
      throw fault;
    });
    const recording = recordAnswer(journal, logOf(intentEntry()), 'ours', created);
    await jest.runAllTimersAsync();
    expect(await recording).toMatchObject({ recorded: false, fault });
    expect(times).toEqual([0, 100, 300, 700]);
  });

  it('is recorded when the disk comes back in time', async () => {
    let tries = 0;
    const journal = logged([intentEntry()], () => {
      if (++tries < 4) throw new Error('the disk is away');
    });
    const recording = recordAnswer(journal, logOf(intentEntry()), 'ours', created);
    await jest.runAllTimersAsync();
    expect(await recording).toMatchObject({ recorded: true });
  });

  it('is recorded once where the write was made and its answer lost', async () => {
    const entries: LogEntry[] = [intentEntry()];
    const journal = logged(entries);
    let isFirst = true;
    const dumb: CreateJournal = {
      ...journal,
      append: async (...entry) => {
        const end = await journal.append(...entry);
        if (!isFirst) return end;
        isFirst = false;
        throw new Error('the store did not answer');
      },
    };
    const recording = recordAnswer(dumb, logOf(intentEntry()), 'ours', created);
    await jest.runAllTimersAsync();
    expect(await recording).toMatchObject({ recorded: true });
    expect(entries.map(({ kind }) => kind)).toEqual(['intent', 'answer']);
  });

  it('[C4.4c] notes the send first where the journal was set back meanwhile: an answer alone says nothing', async () => {
    const other = intentEntry({ nonce: 'theirs', sender: 'run/2' });
    // An earlier copy of the journal, in which somebody else has sent since.
    const entries: LogEntry[] = [other, answerEntry(answers.refused(0), { nonce: 'theirs' })];
    const { recorded, log } = await recordAnswer(logged(entries), logOf(intentEntry()), 'ours', created);
    expect(recorded).toBe(true);
    expect(entries.slice(2)).toMatchObject([
      { kind: 'lost', nonce: 'ours', sender: 'run/1', cause: 'journal_changed', model: 'm' },
      { kind: 'answer', nonce: 'ours', answer: { outcome: 'created' } },
    ]);
    expect(log.state.bought).toBe(1);
  });
});

describe('finding a task by its id alone', () => {
  const created = answers.created(2);
  const { account } = created.video;
  const intent = intentEntry({ account });
  const entry = (own: Partial<TaskIndexEntry> = {}): TaskIndexEntry => ({
    v: 1,
    ...LOG_KEY,
    sendAttempt: 2,
    workflowId: 'wf',
    runId: 'run',
    video: created.video,
    ...own,
  });
  const ofAnother = (own: Partial<TaskIndexEntry> = {}) => entry({ creationKey: 'order-2', ...own });
  const elsewhere = { video: { ...created.video, account: 'another@00000000' } };

  /** An index with entries of others, and what was written into it. */
  function index(found: readonly TaskIndexEntry[] | Error, fails = false) {
    const written: TaskIndexEntry[] = [];
    const journal = scripted({
      indexTask: async (one) => {
        if (fails) throw new Error('the disk is away');
        written.push(one);
      },
      findTask: async () => {
        if (found instanceof Error) throw found;
        return found;
      },
    });
    return { journal, written };
  }

  it('is written as soon as it is created, without a look whether it is there', async () => {
    const { journal, written } = index(new Error('findTask was not expected'));
    await indexCreated(journal, LOG_KEY, created, intent);
    expect(written).toEqual([entry()]);
  });

  it.each<[string, readonly TaskIndexEntry[] | Error, number]>([
    ['is not there', [], 1],
    ['is there', [entry()], 0],
    ['is there among those of other accounts', [entry(elsewhere), entry()], 0],
    ['is there for another account only', [entry(elsewhere)], 1],
    ['cannot be looked up', new Error('the disk is away'), 1],
  ])('is written again from a recorded creation when it %s', async (_, found, times) => {
    const { journal, written } = index(found);
    await indexCreated(journal, LOG_KEY, { ...created, sent: false }, intent);
    expect(written).toEqual(Array(times).fill(entry()));
  });

  it('names no run where the intent is lost', async () => {
    const { journal, written } = index([]);
    await indexCreated(journal, LOG_KEY, created, null);
    expect(written).toEqual([entry({ workflowId: null, runId: null })]);
  });

  it('is not worth a failure: the outcome itself is recorded', async () => {
    await expect(indexCreated(index([], true).journal, LOG_KEY, created, intent)).resolves.toBeUndefined();
  });

  it('is for created videos, and where there is a journal', async () => {
    const { journal, written } = index([]);
    for (const answer of [answers.unconfirmed(0), answers.rejected(0), answers.pending(0)])
      await indexCreated(journal, LOG_KEY, answer, intent);
    await indexCreated(NO_JOURNAL, LOG_KEY, created, intent);
    expect(written).toEqual([]);
  });

  it.each<[string, readonly TaskIndexEntry[], boolean]>([
    ['nobody else has it', [entry()], true],
    ['another key of the account has it too', [entry(), ofAnother()], false],
    ['another key of the account has it first', [ofAnother(), entry()], false],
    ['the same key of another namespace has it', [entry(), entry({ namespace: 'staging' })], false],
    ['a task of another account has the same id', [entry(), ofAnother(elsewhere)], true],
  ])('[C4.4a] a task is adopted or left: %s', async (_, found, expected) => {
    const { journal, written } = index(found);
    expect(await claimTask(journal, LOG_KEY, intent, created)).toBe(expected);
    // Written before the look: of two that search at the same time, one at least sees the other.
    expect(written).toEqual([entry()]);
  });

  it('[C4.4a] is adopted by nobody while the index fails', async () => {
    for (const { journal } of [index([], true), index(new Error('the disk is away'))])
      await expect(claimTask(journal, LOG_KEY, intent, created)).rejects.toMatchObject({
        type: 'MediaJournalUnavailable',
        nonRetryable: false,
      });
  });
});
