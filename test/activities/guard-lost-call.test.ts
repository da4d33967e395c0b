import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CreateJournal } from '../../src/domain/journal';
import { type LogEntry } from '../../src/domain/log-entries';
import { stateOf } from '../../src/domain/paid-log';
import { createFileJournal } from '../../src/stores/journal/file-journal';
import { keepLostCalls, type LostCall } from '../../src/worker/bind-queue';
import { answers } from '../domain/create-answers';
import { answerEntry, decisionEntry, fenceEntry, intentEntry, LOG_KEY as KEY } from '../support/log-entries';

describe('a paid call that brought no answer, when its queue is bound to a journal', () => {
  let folder: string;
  let journal: CreateJournal;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'temporal-media-guard-'));
    journal = createFileJournal({ root: join(folder, 'journal') });
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const call: LostCall = {
    sender: 'the lost one',
    announced: null,
    workflowId: 'wf',
    runId: 'lost',
    ancestors: [],
    activityId: '7',
    creationKey: KEY.creationKey,
    attemptAt: new Date(0).toISOString(),
    operation: 'create_video',
    model: 'cine-1',
  };
  const created = answers.created(0);
  const refused = answers.rejected(0, 'credentials');
  /** Its own send, and sends of another activity. */
  const own = intentEntry({ sender: call.sender, runId: 'lost', nonce: 'own' });
  const another = intentEntry({ sender: 'another', runId: 'before', nonce: 'theirs' });
  const saying = (nonce: string, answer: Parameters<typeof answerEntry>[0]) => answerEntry(answer, { nonce });

  async function write(...entries: readonly LogEntry[]): Promise<void> {
    for (const entry of entries) await journal.append(KEY, (await journal.read(KEY)).length, entry);
  }
  /** What was written. */
  const guard = async (...lost: readonly LostCall[]): Promise<readonly LogEntry[]> => {
    const before = await journal.read(KEY);
    await keepLostCalls(journal, KEY.namespace, lost.length === 0 ? [call] : lost);
    return (await journal.read(KEY)).slice(before.length);
  };
  const noted = { kind: 'lost', nonce: call.sender, sender: call.sender, runId: 'lost', model: 'cine-1' };

  it.each<[string, readonly LogEntry[]]>([
    ['nothing', []],
    ['a refusal over which it may have gone on', [another, saying('theirs', refused)]],
    [
      'a refusal of another request, which it may have corrected',
      [another, saying('theirs', answers.rejected(0, 'invalid_request'))],
    ],
    ['a send of somebody else that is open here: that may have been refused since', [another]],
    [
      'another that a person has sent again',
      [another, saying('theirs', answers.unconfirmed(0)), decisionEntry({ about: 'theirs' })],
    ],
  ])('[C4.4c] is noted beyond %s, once', async (_, before) => {
    await write(...before);
    expect(await guard()).toMatchObject([noted]);
    expect(stateOf(await journal.read(KEY)).unknown).not.toBeNull();
    expect(await guard()).toEqual([]);
  });

  it('[C4.4c] is noted beyond its own refusal where it is an image, which is sent again by itself', async () => {
    await write(own, saying('own', refused));
    expect(await guard()).toEqual([]);
    expect(await guard({ ...call, operation: 'generate_image' })).toMatchObject([noted]);
  });

  it('[C4.4c] is noted beyond another that was noted and decided', async () => {
    expect(await guard()).toMatchObject([noted]);
    await write(decisionEntry({ about: call.sender }));
    // The journal is set back to here after the send that this has allowed.
    const later = { ...call, runId: 'later', sender: 'later' };
    expect(await guard(later)).toMatchObject([{ kind: 'lost', nonce: 'later' }]);
    // What was decided is not asked again.
    await write(decisionEntry({ about: 'later' }));
    expect(await guard()).toEqual([]);
  });

  it.each<[string, readonly LogEntry[]]>([
    ['its own intent stands', [own]],
    ['its own send was refused', [own, saying('own', refused)]],
    ['a fence has excluded it', [fenceEntry({ sender: call.sender })]],
    ['a purchase was in its way', [another, saying('theirs', created)]],
    ['a send of unknown fate was in its way', [another, saying('theirs', answers.unconfirmed(0))]],
  ])('is known where %s', async (_, before) => {
    await write(...before);
    expect(await guard()).toEqual([]);
  });

  it('is not known by a fence that excludes another', async () => {
    await write(fenceEntry({ sender: 'another' }));
    expect(await guard()).toMatchObject([noted]);
  });

  it('[C4.4c] an image that was noted before is noted once more beyond what it has sent since, with a decision of its own', async () => {
    const image = { ...call, operation: 'generate_image' } as const;
    expect(await guard(image)).toMatchObject([noted]);
    await write(decisionEntry({ about: call.sender }), own, saying('own', answers.refused(0)));
    const [again] = await guard(image);
    expect(again).toMatchObject({ ...noted, nonce: expect.any(String) as string });
    const { nonce: about } = again as LogEntry & { readonly nonce: string };
    const unknown = async () => {
      const state = stateOf(await journal.read(KEY));
      return state.unknown === null ? null : state.sends[state.unknown]?.sent.nonce;
    };
    // The first decision says nothing about it.
    await write(decisionEntry({ about: call.sender }));
    expect(await unknown()).toBe(about);
    await write(decisionEntry({ about }));
    expect(await unknown()).toBeNull();
  });

  describe('whose history has its task', () => {
    const bought = { ...call, created };
    const answered = (nonce: string) => ({ kind: 'answer', nonce, answer: { outcome: 'created' } });

    it('[C4.4b] is found again under its key', async () => {
      expect(await guard(bought)).toMatchObject([noted, answered(call.sender)]);
      expect(stateOf(await journal.read(KEY)).bought).toBe(0);
      expect(await guard(bought)).toEqual([]);
    });

    it('[C4.4b] is the answer to its own intent, where that is here', async () => {
      await write(own);
      expect(await guard(bought)).toMatchObject([answered('own')]);
    });

    it.each<[string, readonly LogEntry[]]>([
      ['a send of unknown fate', [another, saying('theirs', answers.unconfirmed(0))]],
      ['a send that is open here', [another]],
    ])('[C4.4b] is never left to a decision because of %s', async (_, before) => {
      await write(...before);
      expect(await guard(bought)).toMatchObject([noted, answered(call.sender)]);
      expect(stateOf(await journal.read(KEY)).bought).toBe(1);
    });

    it('[C4.4b] is kept also where a later call of its key was noted first', async () => {
      const later = { ...call, runId: 'later', sender: 'later' };
      expect(await guard(later, bought)).toMatchObject([{ kind: 'lost' }, noted, answered(call.sender)]);
    });
  });
});
