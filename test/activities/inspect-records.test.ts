import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { type SentCreate, type TaskRecord } from '../../src/activities/paid-context';
import { createReconcileCreate } from '../../src/activities/reconcile-create';
import { type CreatePolicy } from '../../src/domain/create-policy';
import { type CreateJournal } from '../../src/domain/journal';
import { type LogEntry } from '../../src/domain/log-entries';
import { type CreateVideoAnswer } from '../../src/domain/paid-call';
import { stateOf } from '../../src/domain/paid-log';
import { accountRegistry, type AccountRegistry } from '../../src/settings/accounts';
import { createFileJournal } from '../../src/stores/journal/file-journal';
import { makeVideoTask } from '../domain/make-video-task';
import { clientOf } from '../service/client-under-test';
import { intentEntry, LOG_KEY as KEY } from '../support/log-entries';
import { NOTHING_ANNOUNCED } from '../support/queue-binding';
import { paidDeps } from './paid-deps';

const MINUTE = 60_000;

const OURS = accountRegistry([
  { name: 'default@00000000', client: clientOf('http://127.0.0.1:9'), hasKey: async () => true },
]);

/** The service's own records settle a create of unknown fate only where they prove something (failure model: The log). */
describe('task records', () => {
  let folder: string;
  let journal: CreateJournal;
  let asked: SentCreate[];
  /** `absentSince` of the heartbeat that the last attempt left behind. */
  let beat: unknown;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'temporal-media-records-'));
    journal = createFileJournal({ root: join(folder, 'journal') });
    asked = [];
    beat = undefined;
    const at = new Date(Date.now() - 20 * MINUTE).toISOString();
    await write(intentEntry({ at, sendWindowEnd: at }));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function write(entry: LogEntry): Promise<void> {
    await journal.append(KEY, (await journal.read(KEY)).length, entry);
  }
  /** What was decided about the send; null while nobody has. */
  const decided = async () => stateOf(await journal.read(KEY)).sends[0]?.decision ?? null;

  interface Look {
    readonly says: TaskRecord | Error;
    readonly longestRequestMs?: number;
    readonly onAbsent?: CreatePolicy['onAbsent'];
    readonly accounts?: AccountRegistry;
    readonly attempt?: number;
  }

  async function reconcile({
    says,
    longestRequestMs = MINUTE,
    onAbsent,
    accounts = OURS,
    attempt = 1,
  }: Look): Promise<CreateVideoAnswer> {
    const env = new MockActivityEnvironment({
      attempt,
      workflowExecution: { workflowId: 'wf', runId: 'run' },
      heartbeatDetails: beat,
      currentAttemptScheduledTimestampMs: Date.now(),
    });
    env.on('heartbeat', (details: unknown) => {
      beat = details;
    });
    return env.run(
      createReconcileCreate({
        ...paidDeps(folder, journal),
        accounts,
        policy: onAbsent === undefined ? undefined : { onAbsent },
        taskRecords: {
          longestRequestMs,
          find: async (sent) => {
            asked.push(sent);
            if (says instanceof Error) throw says;
            return says;
          },
        },
      }),
      {
        creationKey: KEY.creationKey,
        ...NOTHING_ANNOUNCED,
        trace: { ...NOTHING_ANNOUNCED.trace, sender: 'run/1' },
      },
    );
  }

  const waits = async (look: Look): Promise<number> => {
    const failure = (await reconcile(look).catch((error: unknown) => error)) as ApplicationFailure;
    expect(failure).toMatchObject({ nonRetryable: false, details: [{ class: 'waiting_for_records' }] });
    return Number(failure.nextRetryDelay);
  };

  it('[C4.4c] a task that is found is adopted for good, with the facts that were sent', async () => {
    const found = await reconcile({ says: { found: 'task', taskId: 'video_7' } });
    expect(found).toMatchObject({ outcome: 'created', video: { taskId: 'video_7', durationSeconds: 2 } });
    expect(asked).toMatchObject([{ operation: 'create_video', model: 'm', bodyHash: 'b'.repeat(64) }]);
    expect(await decided()).toMatchObject({ decision: 'adopt', by: 'task records' });
    expect(await journal.findTask('video_7')).toMatchObject([{ creationKey: KEY.creationKey }]);
    // Whoever looks later needs no records.
    expect(await reconcile({ says: new Error('away') })).toMatchObject({ outcome: 'created' });
    expect(asked).toHaveLength(1);
  });

  it("[C4.4a] another key's task, an unusable id, an exception and `unknown` leave it unconfirmed", async () => {
    const video = makeVideoTask({ taskId: 'video_8', account: 'default@00000000' });
    await journal.indexTask({
      v: 1,
      ...KEY,
      creationKey: 'order-2',
      sendAttempt: 0,
      workflowId: null,
      runId: null,
      video,
    });
    const answers: readonly (TaskRecord | Error)[] = [
      { found: 'task', taskId: 'video_8' },
      { found: 'task', taskId: '..' },
      new Error('the console is down'),
      { found: 'unknown' },
      { found: 'something else' } as unknown as TaskRecord,
    ];
    for (const says of answers)
      expect(await reconcile({ says, onAbsent: 'resend' })).toMatchObject({ outcome: 'unconfirmed' });
    expect(await decided()).toBeNull();
  });

  it('[C4.4a] a worker without the account leaves them to another one, and never sends again by its own policy', async () => {
    const look: Look = { says: { found: 'none' }, onAbsent: 'resend', accounts: accountRegistry([]) };
    beat = { absentSince: Date.now() - MINUTE };
    await expect(reconcile(look)).rejects.toMatchObject({ details: [{ class: 'account_not_configured' }] });
    expect(await reconcile({ ...look, attempt: 6 })).toMatchObject({ outcome: 'unconfirmed' });
    expect(await decided()).toBeNull();
  });

  it('[C4.4a] one look that finds nothing proves nothing: the second comes a minute later', async () => {
    const look: Look = { says: { found: 'none' }, onAbsent: 'resend' };
    expect(await waits(look)).toBeGreaterThan(MINUTE - 1);
    expect(await waits(look)).toBeLessThanOrEqual(MINUTE + 100);
    expect(await decided()).toBeNull();
    beat = { absentSince: Date.now() - MINUTE };
    expect(await reconcile(look)).toMatchObject({
      outcome: 'not_sent',
      cause: 'absent_from_records',
      sendAttempt: 0,
      sendAttemptUsed: true,
    });
    expect(await decided()).toMatchObject({ decision: 'resubmit', answer: null });
  });

  it('[C4.4a] nor before the longest time that the service may work on a request', async () => {
    await rm(join(folder, 'journal'), { recursive: true });
    const at = new Date().toISOString();
    await write(intentEntry({ at, sendWindowEnd: at }));
    beat = { absentSince: Date.now() - 2 * MINUTE };
    const look: Look = { says: { found: 'none' }, onAbsent: 'resend', longestRequestMs: 5 * MINUTE };
    expect(await waits(look)).toBeGreaterThan(4 * MINUTE);
  });

  it('[C4.4a] nor before that time is over for a call that was sent again under its key', async () => {
    await rm(join(folder, 'journal'), { recursive: true });
    const at = new Date(Date.now() - 20 * MINUTE).toISOString();
    const idempotency = { header: 'Idempotency-Key', lastSendAt: new Date().toISOString() };
    await write(intentEntry({ at, sendWindowEnd: at, idempotency }));
    beat = { absentSince: Date.now() - 2 * MINUTE };
    const look: Look = { says: { found: 'none' }, onAbsent: 'resend', longestRequestMs: 15 * MINUTE };
    expect(await waits(look)).toBeGreaterThan(12 * MINUTE);
    expect(await decided()).toBeNull();
  });

  it('two looks that find nothing stay unconfirmed unless the operator vouches for the records', async () => {
    beat = { absentSince: Date.now() - MINUTE };
    expect(await reconcile({ says: { found: 'none' } })).toMatchObject({ outcome: 'unconfirmed' });
    expect(await decided()).toBeNull();
  });
});
