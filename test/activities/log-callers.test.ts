import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { otherOpenCall } from '../../src/activities/admission';
import { recordedAnswer } from '../../src/activities/paid-answers';
import { type CreateJournal } from '../../src/domain/journal';
import {
  type IntentEntry,
  type LogEntry,
  owesBefore,
  owesBesides,
  type RecordedAnswer,
} from '../../src/domain/log-entries';
import { decide, type Licence, type LogCaller, stateOf } from '../../src/domain/paid-log';
import { createFileJournal } from '../../src/stores/journal/file-journal';
import { answers } from '../domain/create-answers';
import {
  answerEntry,
  decisionEntry,
  fenceEntry,
  intentEntry,
  LOG_KEY,
  lostEntry,
} from '../support/log-entries';

const NOW = Date.UTC(2026, 0, 1);
const iso = (ms: number): string => new Date(NOW + ms).toISOString();
const LATER = iso(60_000);
const { fingerprint } = intentEntry();

/** Entries of one key, written one after the other. */
class Log {
  readonly entries: LogEntry[] = [];

  /** A send of the activity that has the name of its run. */
  sender(runId: string, answer?: RecordedAnswer, own: Partial<IntentEntry> = {}, at = iso(0)): this {
    const nonce = `${runId} ${this.entries.length}`;
    this.entries.push(intentEntry({ nonce, sender: runId, runId, ...own }));
    if (answer !== undefined) this.entries.push(answerEntry(answer, { nonce, at }));
    return this;
  }

  /** About the newest send. */
  decided(decision: Parameters<typeof decisionEntry>[0] = {}): this {
    const about = this.state.sends.at(-1)?.sent.nonce ?? '';
    return this.and(decisionEntry({ about, ...decision }));
  }

  and(entry: LogEntry): this {
    this.entries.push(entry);
    return this;
  }

  get state() {
    return stateOf(this.entries);
  }

  asks(runId: string, own: Partial<LogCaller> = {}): Licence {
    return decide(this.state, { sender: runId, runId, fingerprint, attemptAt: iso(0), now: NOW, ...own });
  }
}

const log = (): Log => new Log();
const another = { fingerprint: 'another' };

describe('what the log of a key says to whoever asks', () => {
  it('[C4.4c] goes past sends that were proved to be refused or not sent, and stops at what nobody knows', () => {
    const known = log()
      .sender('a', answers.refused(0))
      .sender('a', answers.notSent(1))
      .sender('b', answers.refused(2));
    expect(known.asks('c')).toEqual({ do: 'send' });
    known.sender('c', answers.unconfirmed(3));
    for (const runId of ['a', 'b', 'c', 'later']) expect(known.asks(runId)).toEqual({ do: 'return', at: 3 });
  });

  it('[C2.2.1] leads to a task that was bought after refusals, whoever asks', () => {
    const bought = log().sender('first', answers.refused(0)).sender('second', answers.created(1));
    for (const runId of ['first', 'second', 'later'])
      for (const asked of [fingerprint, null])
        expect(bought.asks(runId, { fingerprint: asked })).toEqual({ do: 'return', at: 1 });
  });

  it('[C4.4a] leads no other request to it', () => {
    const bought = log().sender('first', answers.refused(0)).sender('first', answers.created(1));
    expect(bought.asks('later', another)).toEqual({ do: 'conflict', at: 1 });
  });

  it('[C4.4a] [C7.10] tells of money that may be owed where a person went past an unknown fate, and nowhere else', () => {
    const lost = log().sender('first', answers.unconfirmed(0)).decided();
    expect(lost.asks('later')).toEqual({ do: 'send' });
    expect(owesBefore(lost.state)).toBe(true);
    lost.sender('later', answers.created(1));
    expect(recordedAnswer(lost.state, 1)).toMatchObject({ outcome: 'created', mayBeOwed: true });
    expect(owesBesides(lost.state, 0)).toBe(true);
    // A decision about what was refused says nothing: nothing was accepted.
    const refused = log().sender('first', answers.refused(0)).decided();
    expect(refused.asks('later')).toEqual({ do: 'send' });
    expect(owesBefore(refused.state)).toBe(false);
    // Nor is anything owed besides the purchase that stands, or the send that nobody knows.
    for (const answer of [answers.created(0), answers.unconfirmed(0)])
      expect(owesBefore(log().sender('first', answer).state)).toBe(false);
    const given = log().sender('first', answers.unconfirmed(0));
    expect(owesBefore(given.decided({ decision: 'declareLost', answer: answers.rejected(0) }).state)).toBe(
      false,
    );
  });

  it('[C4.4c] stops at a send that may be in flight, also behind and before fences', () => {
    const sending = log()
      .and(fenceEntry({ sender: 'x' }))
      .sender('first')
      .and(fenceEntry({ sender: 'later' }));
    expect(sending.asks('later')).toEqual({ do: 'pending', at: 0 });
    expect(sending.asks('later', another)).toEqual({ do: 'conflict', at: 0 });
  });

  it('[C4.4c] stops at an unknown fate, whoever asks; another request is a conflict', () => {
    for (const unknown of [log().sender('somebody', answers.unconfirmed(0)), log().and(lostEntry())]) {
      expect(unknown.asks('later')).toEqual({ do: 'return', at: 0 });
      expect(unknown.asks('later', another)).toEqual({ do: 'conflict', at: 0 });
    }
    // Nobody can compare with a request that only another journal had.
    const unseen = log().and(lostEntry({ fingerprint: null }));
    expect(unseen.asks('later', another)).toEqual({ do: 'return', at: 0 });
  });

  it('[C4.4a] stops at what a person adopted, behind what a person let be sent again', () => {
    const adopted = log().sender('a', answers.unconfirmed(0)).decided().sender('b', answers.unconfirmed(1));
    adopted.decided({ decision: 'adopt', answer: answers.created(1) });
    expect(adopted.asks('later')).toEqual({ do: 'return', at: 1 });
    expect(recordedAnswer(adopted.state, 1)).toMatchObject({ outcome: 'created', mayBeOwed: true });
  });

  it('[C4.4a] a fence excludes its sender, in all of its runs and tries, and nobody else', () => {
    const fenced = log().and(fenceEntry({ sender: 'ours' }));
    for (const retries of [true, false]) expect(fenced.asks('ours', { retries })).toEqual({ do: 'fenced' });
    expect(fenced.asks('ours', { runId: 'another run', again: true })).toEqual({ do: 'fenced' });
    expect(fenced.asks('another')).toEqual({ do: 'send' });
    // What was bought is told to it all the same.
    fenced.sender('another', answers.created(0));
    expect(fenced.asks('ours')).toEqual({ do: 'return', at: 0 });
  });

  it('[C2.2.1] a decision is about its own request: another one finds its task, and makes no room for itself', () => {
    const other = log().sender('other', answers.unconfirmed(0), { fingerprint: 'other' }).decided();
    expect(other.asks('later')).toEqual({ do: 'conflict', at: 0 });
    expect(other.asks('later', { fingerprint: 'other' })).toEqual({ do: 'send' });
    other.sender('other again', answers.created(1), { fingerprint: 'other' });
    expect(other.asks('later', { fingerprint: 'other' })).toEqual({ do: 'return', at: 1 });
    expect(other.asks('later', { fingerprint: 'a third' })).toEqual({ do: 'conflict', at: 1 });
  });

  it('[C2.2.1] a purchase that is known is told, also beside a send that nobody knows', () => {
    const both = log()
      .sender('first', answers.unconfirmed(0))
      .and(lostEntry({ nonce: 'unseen', sender: 'x' }));
    both.and(answerEntry(answers.created(1), { nonce: 'unseen' }));
    expect(both.asks('later')).toEqual({ do: 'return', at: 1 });
    expect(recordedAnswer(both.state, 1)).toMatchObject({ outcome: 'created', mayBeOwed: true });
  });

  it.each([1_000, 90_000, 3_600_000])(
    '[C8.7] waits the whole Retry-After of a record whose clock is ahead by %i ms, and no longer',
    (aheadMs) => {
      const answer = answers.refused(0, iso(aheadMs + 2_000));
      const ahead = log().sender('first', answer, {}, iso(aheadMs));
      expect(ahead.asks('later')).toEqual({ do: 'return', at: 0 });
      expect(recordedAnswer(ahead.state, 0, NOW)).toMatchObject({ notBefore: iso(2_000) });
    },
  );

  it('[C8.7] waits for a Retry-After that is not over, whoever asks and whatever for: a fence does not end it', () => {
    const refused = log()
      .sender('first', answers.refused(0, LATER))
      .and(fenceEntry({ sender: 'x' }));
    for (const runId of ['first', 'later']) expect(refused.asks(runId)).toEqual({ do: 'return', at: 0 });
    expect(refused.asks('later', { again: true })).toEqual({ do: 'return', at: 0 });
    expect(refused.asks('later', another)).toEqual({ do: 'conflict', at: 0 });
    expect(refused.asks('later', { now: NOW + 60_000 })).toEqual({ do: 'send' });
    // Somebody went past it: the clocks of workers differ.
    expect(refused.sender('second').asks('later')).toEqual({ do: 'pending', at: 1 });
  });

  describe('after a refusal of the request', () => {
    const invalid = answers.rejected(0, 'invalid_request');
    const corrected = { fingerprint: 'corrected' };
    const refused = (): Log => log().sender('first', invalid);

    it('[C7.1] lets the corrected one be sent, and the same one by a word only', () => {
      expect(refused().asks('later', corrected)).toEqual({ do: 'send' });
      expect(refused().asks('later', { again: true })).toEqual({ do: 'send' });
      expect(refused().asks('later')).toEqual({ do: 'return', at: 0 });
    });

    it('[C4.4a] never leads the first one to what the corrected one bought', () => {
      const bought = refused().sender('second', answers.created(1), corrected);
      expect(bought.asks('later', corrected)).toEqual({ do: 'return', at: 1 });
      for (const again of [true, false])
        expect(bought.asks('later', { again })).toEqual({ do: 'conflict', at: 1 });
    });

    it('[C4.4c] leads whoever asks for the same to what was bought by a word, past a second refused one', () => {
      const bought = refused().sender('second', invalid, corrected);
      bought.sender('by a word', answers.created(2));
      for (const runId of ['later', 'first']) expect(bought.asks(runId)).toEqual({ do: 'return', at: 2 });
      expect(bought.asks('later', corrected)).toEqual({ do: 'conflict', at: 2 });
    });

    it('[C4.4a] goes back to the activity that had it; another one of its run sends only what may have changed', () => {
      const standing = { ...answers.rejected(0, 'credentials'), standing: 'account' } as const;
      const ofOneRun = (sender: string) => ({ sender, runId: 'first' });
      for (const answer of [invalid, standing, answers.refused(0), answers.notSent(0)])
        expect(log().sender('first', answer).asks('first')).toEqual({ do: 'return', at: 0 });
      for (const answer of [standing, answers.refused(0), answers.notSent(0)])
        expect(log().sender('first', answer).asks('first', ofOneRun('its next'))).toEqual({ do: 'send' });
      expect(refused().asks('first', ofOneRun('its next'))).toEqual({ do: 'return', at: 0 });
    });
  });
});

describe('a call of unknown fate', () => {
  let root: string;
  let journal: CreateJournal;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'temporal-media-callers-'));
    journal = createFileJournal({ root });
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const write = async (entries: readonly LogEntry[]): Promise<void> => {
    for (const entry of entries) await journal.append(LOG_KEY, (await journal.read(LOG_KEY)).length, entry);
  };
  const other = (call: Partial<IntentEntry> = {}) =>
    otherOpenCall(journal, { ...LOG_KEY, creationKey: 'order-2' }, intentEntry(call), NOW);

  it('[C4.4a] stops the same request under another key until its fate is known or decided', async () => {
    const sent = log().sender('first');
    await write(sent.entries);
    expect(await other()).toMatchObject({ creationKey: 'order-1' });
    await write([decisionEntry({ about: sent.state.sends[0]?.sent.nonce ?? '' })]);
    // A decision before the fate of the send was given up is not counted.
    expect(await other()).toMatchObject({ creationKey: 'order-1' });
    const nonce = sent.state.sends[0]?.sent.nonce ?? '';
    await write([answerEntry(answers.unconfirmed(0), { nonce })]);
    expect(await other()).toMatchObject({ creationKey: 'order-1' });
    await write([decisionEntry({ about: nonce })]);
    expect(await other()).toBeUndefined();
  });

  it.each<[string, readonly LogEntry[], Partial<IntentEntry>]>([
    ['while its sender may be alive', log().sender('first', undefined, { sendWindowEnd: LATER }).entries, {}],
    ['once it was bought', log().sender('first', answers.created(0)).entries, {}],
    ['once it was refused', log().sender('first', answers.refused(0)).entries, {}],
    ['of another body', log().sender('first').entries, { bodyHash: 'c'.repeat(64) }],
    ['of another account', log().sender('first').entries, { account: 'another@00000000' }],
  ])('stops nothing %s', async (_, entries, call) => {
    await write(entries);
    expect(await other(call)).toBeUndefined();
  });
});
