import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createCreateVideo } from '../../src/activities/create-video';
import { type PaidDeps } from '../../src/activities/paid-context';
import { createReconcileCreate } from '../../src/activities/reconcile-create';
import { createResolveUnconfirmed } from '../../src/activities/unconfirmed-calls';
import { type CreateJournal } from '../../src/domain/journal';
import {
  type DecisionEntry,
  type IntentEntry,
  type JournalKey,
  type LogEntry,
  type RecordedAnswer,
} from '../../src/domain/log-entries';
import { type CreateVideoAnswer } from '../../src/domain/paid-call';
import { stateOf } from '../../src/domain/paid-log';
import {
  type ResolveUnconfirmedCall,
  type ResolveUnconfirmedResult,
} from '../../src/domain/unconfirmed-decision';
import { createMediaClient } from '../../src/service/create-media-client';
import { type MediaClient } from '../../src/service/media-client';
import { createFileJournal } from '../../src/stores/journal/file-journal';
import { answers } from '../domain/create-answers';
import { makeVideoTask } from '../domain/make-video-task';
import { json, loopback, type Loopback } from '../service/loopback-service';
import { firstAttempt } from '../support/first-attempt';
import { answerEntry, intentEntry, LOG_KEY as KEY, lostEntry } from '../support/log-entries';
import { NOTHING_ANNOUNCED } from '../support/queue-binding';
import { traceOf } from './log-bench';
import { paidDeps } from './paid-deps';

const REQUEST = { model: 'm', prompt: 'a call of unknown fate' };
const HOUR = 60 * 60_000;

/** The decision of a person, down to the entries of a real journal and the requests of a real service. */
describe('a decision about a paid call of unknown fate', () => {
  let folder: string;
  let journal: CreateJournal;
  let service: Loopback;
  let client: MediaClient;
  /** What the next create is answered. */
  let createReply: { readonly status: number; readonly body: object };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'temporal-media-resolve-'));
    journal = createFileJournal({ root: join(folder, 'journal') });
    createReply = { status: 200, body: { id: 'video_2', status: 'queued' } };
    service = await loopback((request, response) =>
      request.method === 'POST'
        ? json(response, createReply.status, createReply.body)
        : json(response, 200, { id: 'video_1', status: 'queued' }),
    );
    client = createMediaClient({ baseUrl: service.origin, apiKey: () => 'the-key-of-this-worker' });
  });
  afterEach(async () => {
    await client.close();
    await service.close();
    await rm(folder, { recursive: true, force: true });
  });

  const deps = (changes: Partial<PaidDeps> = {}): PaidDeps => ({
    ...paidDeps(folder, journal, client),
    ...changes,
  });

  const environment = (runId: string) =>
    new MockActivityEnvironment({
      ...firstAttempt(),
      workflowExecution: { workflowId: 'wf', runId },
      workflowNamespace: KEY.namespace,
      startToCloseTimeoutMs: 70_000,
    });

  /** The name of a send, as its evidence names it. */
  async function sendOf(at = 0, creationKey = KEY.creationKey): Promise<string> {
    const { sends } = stateOf(await journal.read({ ...KEY, creationKey }));
    return sends[at]?.sent.nonce ?? 'none';
  }
  async function write(entry: LogEntry, key: JournalKey = KEY): Promise<void> {
    await journal.append(key, (await journal.read(key)).length, entry);
  }
  const decisions = async (key: JournalKey = KEY): Promise<readonly DecisionEntry[]> =>
    (await journal.read(key)).filter((entry): entry is DecisionEntry => entry.kind === 'decision');

  /** About the first send, unless the call names another one. */
  const decide = async (
    call: Partial<ResolveUnconfirmedCall>,
    changes?: Partial<PaidDeps>,
  ): Promise<ResolveUnconfirmedResult> => {
    const made: ResolveUnconfirmedCall = {
      creationKey: KEY.creationKey,
      sendId: await sendOf(0, call.creationKey),
      decision: 'resubmit',
      by: 'ada',
      reason: 'looked into the console',
      ...call,
    };
    return environment('a person').run(createResolveUnconfirmed(deps(changes)), made);
  };

  /** Each run has another activity. */
  const create = (runId = 'a later run'): Promise<CreateVideoAnswer> =>
    environment(runId).run(createCreateVideo(deps()), { creationKey: KEY.creationKey, request: REQUEST });

  const posts = (): number => service.seen.filter(({ method }) => method === 'POST').length;

  /** A create of this very request whose sender died after the intent; its window is over unless said otherwise. */
  async function lostSender(key = KEY, windowEndsIn = -HOUR): Promise<void> {
    const scratch = createFileJournal({ root: join(folder, 'scratch') });
    await environment('first run').run(createCreateVideo(deps({ journal: scratch })), {
      creationKey: 'scratch',
      request: REQUEST,
    });
    const [intent] = await scratch.read({ ...KEY, creationKey: 'scratch' });
    if (intent?.kind !== 'intent') throw new Error('no intent was written');
    service.seen.length = 0;
    const sendWindowEnd = new Date(Date.now() + windowEndsIn).toISOString();
    const lost: IntentEntry = { ...intent, ...key, sendWindowEnd };
    await write(lost, key);
  }

  const lateAnswer = async (answer: RecordedAnswer): Promise<void> =>
    write(answerEntry(answer, { nonce: await sendOf(), at: new Date().toISOString() }));
  const refusal = {
    outcome: 'rejected',
    sendAttempt: 0,
    sent: true,
    account: null,
    estimate: null,
    reason: 'invalid_request',
    message: 'refused late',
  } as const;

  it('[C4.4a] is waited for while a sender may be alive, and writes nothing until then', async () => {
    await lostSender(KEY, 30_000);
    const failure = (await decide({}).catch((error: unknown) => error)) as ApplicationFailure;
    expect(failure).toMatchObject({ nonRetryable: false, details: [{ class: 'waiting_for_sender' }] });
    expect(await journal.read(KEY)).toHaveLength(1);
  });

  it('[C4.4a] authorises one send, however often and by however many it is made', async () => {
    await lostSender();
    const made = await Promise.allSettled([decide({ by: 'ada' }), decide({ by: 'bob' })]);
    // Of two at once the loser looks again: its next attempt finds the same decision.
    expect(made.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThanOrEqual(1);
    const [stands] = await decisions();
    const [first, second] = stands?.by === 'ada' ? ['ada', 'bob'] : ['bob', 'ada'];
    // Carried out again, as after a reset, it is the same one; of anybody else it comes too late.
    expect(await decide({ by: first })).toMatchObject({ resolved: true, sendAttempt: 0 });
    expect(await decide({ by: second })).toMatchObject({
      resolved: false,
      reason: 'already_decided',
      stands: { decision: 'resubmit', by: first, sendAttempt: 0 },
    });
    expect(await create()).toMatchObject({ outcome: 'created', sendAttempt: 1 });
    expect(await create('yet another run')).toMatchObject({ outcome: 'created', sent: false });
    expect(posts()).toBe(1);
    expect(await decide({})).toMatchObject({ resolved: false, reason: 'already_known' });
    expect(await decisions()).toHaveLength(1);
  });

  it('[C4.4a] about one send says nothing about the next one under the same key, also when it is carried out again', async () => {
    await lostSender();
    expect(await decide({})).toMatchObject({ resolved: true });
    const first = await sendOf();
    createReply = { status: 502, body: {} };
    expect(await create()).toMatchObject({ outcome: 'unconfirmed', sendAttempt: 1 });
    const second = await sendOf(1);
    for (const decision of ['resubmit', 'declareLost'] as const)
      expect(await decide({ sendId: first, by: 'bob', decision })).toMatchObject({
        resolved: false,
        reason: 'already_decided',
      });
    expect(await decide({ sendId: first })).toMatchObject({ resolved: true, sendAttempt: 0 });
    expect(await decide({ sendId: 'nobody' })).toMatchObject({ reason: 'already_decided' });
    expect(await decisions()).toHaveLength(1);
    expect(await create('restarted')).toMatchObject({ outcome: 'unconfirmed', evidence: { sendId: second } });
    expect(posts()).toBe(1);
    createReply = { status: 200, body: { id: 'video_2', status: 'queued' } };
    expect(await decide({ sendId: second })).toMatchObject({ resolved: true, sendAttempt: 1 });
    expect(await create('restarted once more')).toMatchObject({ outcome: 'created', sendAttempt: 2 });
    expect(posts()).toBe(2);
  });

  it('[C4.4a] of two different ones at once one stands, and the other is told which', async () => {
    await lostSender();
    await Promise.allSettled([decide({ decision: 'resubmit' }), decide({ decision: 'declareLost' })]);
    const stands = (await decisions())[0]?.decision;
    const other = stands === 'resubmit' ? 'declareLost' : 'resubmit';
    expect(await decide({ decision: other })).toMatchObject({
      resolved: false,
      reason: 'already_decided',
      message: expect.stringContaining(String(stands)) as string,
    });
  });

  it('[C4.4b] of an attempt that died after its record is finished by the next one', async () => {
    await lostSender();
    const call = { decision: 'adopt', taskId: 'video_1' } as const;
    const dies: CreateJournal = {
      ...journal,
      forgetOpen: () => Promise.reject(new Error('killed')),
    };
    await expect(decide(call, { journal: dies })).rejects.toThrow('killed');
    const [intent] = await journal.read(KEY);
    const bodyHash = intent?.kind === 'intent' ? intent.bodyHash : '';
    expect(await journal.findOpenByBody(bodyHash)).toHaveLength(1);
    await rm(join(folder, 'journal', 'tasks'), { recursive: true });
    expect(await decide(call)).toMatchObject({ resolved: true, answer: { video: { taskId: 'video_1' } } });
    expect(await journal.findOpenByBody(bodyHash)).toHaveLength(0);
    expect(await journal.findTask('video_1')).toMatchObject([{ creationKey: KEY.creationKey }]);
  });

  it.each([
    ['another key', { ...KEY, creationKey: 'order-2' }],
    ['the same key in another namespace', { ...KEY, namespace: 'elsewhere' }],
  ])('[C4.4b] never adopts the task of %s', async (_, owner) => {
    await lostSender();
    const video = makeVideoTask({ taskId: 'video_1', account: 'default@00000000' });
    await journal.indexTask({ v: 1, ...owner, sendAttempt: 0, workflowId: null, runId: null, video });
    expect(await decide({ decision: 'adopt', taskId: 'video_1' })).toMatchObject({
      resolved: false,
      reason: 'task_of_another_key',
    });
  });

  it('[C4.4b] gives one task to one of two keys that want it at the same time', async () => {
    const other = { ...KEY, creationKey: 'order-2' };
    await lostSender();
    await lostSender(other);
    const wanted = { decision: 'adopt', taskId: 'video_1' } as const;
    const made = await Promise.all([decide(wanted), decide({ ...wanted, creationKey: 'order-2' })]);
    expect(made.map(({ resolved }) => resolved).sort()).toEqual([false, true]);
    expect([...(await decisions()), ...(await decisions(other))]).toHaveLength(1);
  });

  it('[C4.4a] is not taken about a send whose fate is known: bought, or refused', async () => {
    await lostSender();
    await lateAnswer(refusal);
    expect(await decide({ decision: 'declareLost' })).toMatchObject({ reason: 'nothing_unconfirmed' });
    await write(intentEntry({ nonce: 'second', sender: 'first run' }));
    await write(answerEntry(answers.created(1), { nonce: 'second' }));
    expect(await decide({ decision: 'declareLost' })).toMatchObject({ reason: 'already_known' });
    expect(await decisions()).toEqual([]);
  });

  it('[C4.4a] is not taken where its sender was late, not dead: what it has recorded by then counts', async () => {
    await lostSender();
    const nonce = await sendOf();
    let isFirst = true;
    const append: CreateJournal['append'] = async (key, n, entry) => {
      if (isFirst && entry.kind === 'answer') {
        isFirst = false;
        await write(answerEntry(answers.created(0), { nonce }));
      }
      return journal.append(key, n, entry);
    };
    expect(await decide({}, { journal: { ...journal, append } })).toMatchObject({
      resolved: false,
      reason: 'already_known',
    });
    expect(await decisions()).toEqual([]);
    expect(await create()).toMatchObject({ outcome: 'created', sent: false });
  });

  it('[C4.4c] is about one of several sends of unknown fate: the key is free once all were decided', async () => {
    await lostSender();
    await write(answerEntry(answers.unconfirmed(0), { nonce: await sendOf() }));
    await write(lostEntry({ nonce: 'unseen', sender: 'another', fingerprint: null }));
    const first = await sendOf();
    expect(await decide({ sendId: 'unseen' })).toMatchObject({ resolved: true, sendAttempt: 1 });
    expect(await create()).toMatchObject({ outcome: 'unconfirmed', sendAttempt: 0 });
    expect(posts()).toBe(0);
    expect(await decide({ sendId: first })).toMatchObject({ resolved: true, sendAttempt: 0 });
    expect(await create()).toMatchObject({ outcome: 'created', sendAttempt: 2, mayBeOwed: true });
    expect(posts()).toBe(1);
  });

  it('[C4.4b] of a resubmission is not undone by a refusal that comes late: the second task is not hidden', async () => {
    await lostSender();
    await decide({});
    expect(await create()).toMatchObject({ outcome: 'created', video: { taskId: 'video_2' } });
    await lateAnswer(refusal);
    expect(await create('restarted')).toMatchObject({ outcome: 'created', video: { taskId: 'video_2' } });
    expect(posts()).toBe(1);
  });

  it('[C4.4a] of a resubmission gives way to a task that comes late: nothing is sent again', async () => {
    await lostSender();
    const made = await decide({});
    expect(made).toMatchObject({ resolved: true, sendAttempt: 0 });
    const video = makeVideoTask({ taskId: 'video_9' });
    await lateAnswer({
      outcome: 'created',
      sendAttempt: 0,
      sent: true,
      account: null,
      estimate: null,
      video,
      status: 'queued',
      warnings: [],
    });
    // A workflow that waited goes on.
    expect(await create('first run')).toMatchObject({
      outcome: 'created',
      video: { taskId: 'video_9' },
    });
    expect(posts()).toBe(0);
  });

  it('[C7.10] a refusal after a resubmission does not say that nothing is owed', async () => {
    await lostSender();
    await decide({});
    createReply = { status: 400, body: { error: { message: 'no such duration' } } };
    expect(await create()).toMatchObject({ outcome: 'rejected', mayBeOwed: true });
    expect(await create('restarted')).toMatchObject({ outcome: 'rejected', mayBeOwed: true });
    const found = await environment('a later run').run(createReconcileCreate(deps()), {
      creationKey: KEY.creationKey,
      ...NOTHING_ANNOUNCED,
      ...traceOf('a later run/test'),
    });
    expect(found).toMatchObject({ outcome: 'rejected', mayBeOwed: true });
  });

  it('[C7.10] what a resubmission bought says that the first send may have cost as well', async () => {
    await lostSender();
    await decide({});
    const bought = await create();
    expect(bought).toMatchObject({ outcome: 'created', mayBeOwed: true });
    expect('warnings' in bought && bought.warnings).toContainEqual(
      expect.stringMatching(/also have been accepted/),
    );
  });

  it('[C1.8] results that were paid for and lost stay owed when they are declared lost', async () => {
    await write(intentEntry({ operation: 'generate_image' }));
    const base = { sendAttempt: 0, sent: true, account: null, estimate: null, images: [], created: null };
    const answer = { ...base, outcome: 'results_lost', reason: 'storage', message: 'lost' } as const;
    await write(answerEntry(answer));
    expect(await decide({ decision: 'declareLost' })).toMatchObject({
      resolved: true,
      answer: { outcome: 'rejected', reason: 'declared_lost', mayBeOwed: true },
    });
  });

  it('[C5.4b] keeps no address, key or control character of who and why', async () => {
    await lostSender();
    const reason = 'see https://cdn.example.com/v.mp4?sig=abc\n\u202Ekey the-key-of-this-worker\u0007';
    expect(await decide({ by: 'ada\u001B[2J', reason, decision: 'declareLost' })).toMatchObject({
      resolved: true,
    });
    const kept = JSON.stringify(await decisions());
    expect(kept).toContain('ada');
    expect(kept).not.toMatch(/sig=|v\.mp4|the-key-of-this-worker|\\u00|\\n|\u202E/);
  });

  it('is refused when nothing readable is left of who decides', async () => {
    await lostSender();
    expect(await decide({ by: '\u0000\u0001' })).toMatchObject({ reason: 'invalid_decision' });
    expect(await decisions()).toEqual([]);
  });
});
