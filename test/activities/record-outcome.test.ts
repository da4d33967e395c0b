import {
  claimSendAttempt,
  claimTask,
  indexCreated,
  openSendAttempt,
  recordOutcome,
} from '../../src/activities/send-attempts';
import {
  type CreateJournal,
  type SendAttemptView,
  type OutcomeRecord,
  type TaskIndexEntry,
} from '../../src/domain/journal';
import { answers } from '../domain/create-answers';
import { claimIntent } from './claim-intent';

const KEY = { namespace: 'default', creationKey: 'order-1' };
const NOTHING: SendAttemptView = { claim: null, outcome: null };
const asker = { fingerprint: 'f'.repeat(64), workflowId: 'wf', runId: 'later', now: () => 0 };

const ended = (answer: OutcomeRecord['answer'], nonce = 'ours'): SendAttemptView => ({
  claim: claimIntent({ nonce }),
  outcome: { v: 1, nonce, at: new Date(0).toISOString(), answer },
});

/** A journal that answers as it is told, and remembers what it was asked. */
function scripted(parts: Partial<CreateJournal>): CreateJournal {
  const untold = (name: string) => () => Promise.reject(new Error(`${name} was not expected`));
  return {
    kind: 's3',
    identity: untold('identity'),
    sealingKey: untold('sealingKey'),
    putMark: untold('putMark'),
    hasMark: untold('hasMark'),
    read: untold('read'),
    putClaim: untold('putClaim'),
    putOutcome: untold('putOutcome'),
    putResolution: untold('putResolution'),
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

describe('opening a send attempt', () => {
  it('goes forward over proven refusals, from where it was told to, and stops at the first other', async () => {
    const views = [
      ended(answers.refused(0)),
      ended(answers.notSent(1)),
      ended(answers.refused(2)),
      ended(answers.unconfirmed(3)),
    ];
    const read: number[] = [];
    const journal = scripted({
      read: async (_, sendAttempt) => {
        read.push(sendAttempt);
        return views[sendAttempt] ?? NOTHING;
      },
    });
    expect(await openSendAttempt(journal, KEY, 1, asker)).toMatchObject({ sendAttempt: 3, do: 'return' });
    expect(read).toEqual([0, 1, 2, 3]);
    // Nobody goes past what nobody knows, wherever they begin.
    expect(await openSendAttempt(journal, KEY, 4, asker)).toMatchObject({ sendAttempt: 3, do: 'return' });
    views.pop();
    expect(await openSendAttempt(journal, KEY, 3, asker)).toEqual({
      sendAttempt: 3,
      do: 'send',
      intents: [],
    });
    views[0] = ended(answers.created(0));
    for (const from of [0, 3])
      expect(await openSendAttempt(journal, KEY, from, asker)).toMatchObject({
        sendAttempt: 0,
        do: 'return',
      });
  });

  it('[C8.7] waits for a Retry-After, unless somebody went on after it: the clocks of workers differ', async () => {
    const until = new Date(60_000).toISOString();
    const views: SendAttemptView[] = [ended(answers.refused(0, until))];
    const journal = scripted({ read: async (_, sendAttempt) => views[sendAttempt] ?? NOTHING });
    expect(await openSendAttempt(journal, KEY, 0, asker)).toMatchObject({ sendAttempt: 0, do: 'return' });
    views[1] = { claim: claimIntent(), outcome: null };
    expect(await openSendAttempt(journal, KEY, 0, asker)).toMatchObject({ sendAttempt: 1, do: 'pending' });
    // What may have been accepted is never passed over, whatever stands behind it.
    views[0] = ended(answers.unconfirmed(0));
    expect(await openSendAttempt(journal, KEY, 0, asker)).toMatchObject({ sendAttempt: 0, do: 'return' });
  });

  it.each<[string, 'lost' | Error, SendAttemptView, string | Error]>([
    ['lost to another', 'lost', { claim: claimIntent({ nonce: 'theirs' }), outcome: null }, 'lost'],
    ['lost, and ours', 'lost', { claim: claimIntent(), outcome: null }, 'won'],
    ['failed, and ours', new Error('away'), { claim: claimIntent(), outcome: null }, 'unsure'],
    [
      'failed, and of another',
      new Error('away'),
      { claim: claimIntent({ nonce: 'theirs' }), outcome: null },
      new Error('away'),
    ],
    ['failed, and of nobody', new Error('away'), NOTHING, new Error('away')],
  ])('[C4.4a] a claim that is %s is read back', async (_, put, view, expected) => {
    const journal = scripted({
      putClaim: async () => {
        if (put instanceof Error) throw put;
        return put;
      },
      read: async () => view,
    });
    const claim = claimSendAttempt(journal, KEY, 0, claimIntent());
    if (expected instanceof Error) await expect(claim).rejects.toThrow(expected);
    else expect(await claim).toBe(expected);
  });

  it('without a journal is to send where it was told to', async () => {
    expect(await openSendAttempt('none', KEY, 7, asker)).toEqual({ sendAttempt: 7, do: 'send', intents: [] });
    expect(await claimSendAttempt('none', KEY, 7, claimIntent())).toBe('won');
  });

  it('reads nothing back after a clean win', async () => {
    expect(await claimSendAttempt(scripted({ putClaim: async () => 'won' }), KEY, 0, claimIntent())).toBe(
      'won',
    );
  });

  it('takes a claim that is gone after it was lost as lost', async () => {
    const journal = scripted({ putClaim: async () => 'lost', read: async () => NOTHING });
    expect(await claimSendAttempt(journal, KEY, 0, claimIntent())).toBe('lost');
  });
});

describe('recording what a send came to', () => {
  beforeEach(() => {
    jest.useFakeTimers({ now: 1_000_000 });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const created = answers.created(2);

  it('says nothing is recorded where there is no journal', async () => {
    expect(await recordOutcome('none', KEY, 'ours', created)).toEqual({ recorded: false, standing: created });
  });

  it('writes it into the send attempt of the answer, with nonce and time', async () => {
    const written: unknown[] = [];
    const journal = scripted({
      putOutcome: async (...args) => {
        written.push(args);
        return 'won';
      },
    });
    expect(await recordOutcome(journal, KEY, 'ours', created)).toEqual({ recorded: true, standing: created });
    expect(written).toEqual([
      [KEY, 2, { v: 1, nonce: 'ours', at: new Date(1_000_000).toISOString(), answer: created }],
    ]);
  });

  it('[C5.4c] keeps the words of the service out of the journal and in the answer', async () => {
    const error = { kind: 'moderation' as const, code: 'blocked', message: 'a prompt, echoed' };
    const answer = { ...answers.rejected(0), error };
    let record: OutcomeRecord | undefined;
    const journal = scripted({
      putOutcome: async (_, __, outcome) => {
        record = outcome;
        return 'won';
      },
    });
    expect((await recordOutcome(journal, KEY, 'ours', answer)).standing).toEqual(answer);
    expect(record?.answer).toEqual({ ...answer, error: { ...error, message: null } });
  });

  it('lets the record stand that was there first', async () => {
    const first = answers.unconfirmed(2);
    const lost = { putOutcome: async () => 'lost' as const };
    expect(
      await recordOutcome(scripted({ ...lost, read: async () => ended(first) }), KEY, 'ours', created),
    ).toEqual({ recorded: true, standing: first });
    expect(
      await recordOutcome(scripted({ ...lost, read: async () => NOTHING }), KEY, 'ours', created),
    ).toEqual({ recorded: true, standing: created });
  });

  it('tries four times, waiting longer each time, and then says that it is not recorded', async () => {
    const at: number[] = [];
    const journal = scripted({
      putOutcome: async () => {
        at.push(Date.now() - 1_000_000);
        throw new Error('the disk is away');
      },
    });
    const recording = recordOutcome(journal, KEY, 'ours', created);
    await jest.runAllTimersAsync();
    const fault = new Error('the disk is away');
    expect(await recording).toEqual({ recorded: false, standing: created, fault });
    expect(at).toEqual([0, 100, 300, 700]);
  });

  it('is recorded when the disk comes back in time', async () => {
    let tries = 0;
    const journal = scripted({
      putOutcome: async () => {
        tries += 1;
        if (tries < 4) throw new Error('the disk is away');
        return 'won';
      },
    });
    const recording = recordOutcome(journal, KEY, 'ours', created);
    await jest.runAllTimersAsync();
    expect(await recording).toEqual({ recorded: true, standing: created });
  });
});

describe('finding a task by its id alone', () => {
  const created = answers.created(2);
  const { account } = created.video;
  const entry = (own: Partial<TaskIndexEntry> = {}): TaskIndexEntry => ({
    v: 1,
    ...KEY,
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
    await indexCreated(journal, KEY, created, claimIntent());
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
    await indexCreated(journal, KEY, { ...created, sent: false }, claimIntent());
    expect(written).toEqual(Array(times).fill(entry()));
  });

  it('names no run where the intent is lost', async () => {
    const { journal, written } = index([]);
    await indexCreated(journal, KEY, created, null);
    expect(written).toEqual([entry({ workflowId: null, runId: null })]);
  });

  it('is not worth a failure: the outcome itself is recorded', async () => {
    await expect(indexCreated(index([], true).journal, KEY, created, claimIntent())).resolves.toBeUndefined();
  });

  it('is for created videos, and where there is a journal', async () => {
    const { journal, written } = index([]);
    for (const answer of [answers.unconfirmed(0), answers.rejected(0), answers.pending(0)])
      await indexCreated(journal, KEY, answer, claimIntent());
    await indexCreated('none', KEY, created, claimIntent());
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
    const claim = claimIntent({ account });
    expect(await claimTask(journal, KEY, claim, created)).toBe(expected);
    // Written before the look: of two that search at the same time, one at least sees the other.
    expect(written).toEqual([entry()]);
  });

  it('[C4.4a] is adopted by nobody while the index fails', async () => {
    for (const { journal } of [index([], true), index(new Error('the disk is away'))])
      await expect(claimTask(journal, KEY, claimIntent({ account }), created)).rejects.toThrow(
        'the disk is away',
      );
  });
});
