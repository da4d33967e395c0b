import { MockActivityEnvironment } from '@temporalio/testing';
import { fenceBatch, ownsBatch } from '../../../src/activities/admission';
import { noteFree } from '../../../src/activities/campaign/budget-book';
import { createCampaignImage, createCreateVideos } from '../../../src/activities/campaign/create-rows';
import { type PaidDeps } from '../../../src/activities/paid-context';
import { RefusalGate } from '../../../src/activities/refusal-gate';
import {
  batchWorkflowId,
  fenceLog,
  ownerLog,
  type CampaignLog,
} from '../../../src/domain/campaign/budget-book';
import {
  type GroupedCreate,
  type CampaignImageInput,
  type CreateVideosInput,
  type CreateVideosResult,
} from '../../../src/domain/campaign/campaign-activities';
import { type CreatePolicy } from '../../../src/domain/create-policy';
import { type CreateJournal } from '../../../src/domain/journal';
import { type ImageOutcome } from '../../../src/domain/outcome';
import {
  type CreateVideoAnswer,
  type UnconfirmedCall,
  type WaitingImage,
} from '../../../src/domain/paid-call';
import { json } from '../../service/loopback-service';
import { CreateHarness, PAGE, rowOf, video } from './create-harness';

const NAMESPACE = 'default';
const KEY = { namespace: NAMESPACE, creationKey: 'row-0' };
const PAYER = batchWorkflowId('spring', 0);
const NEXT = batchWorkflowId('spring', 1);
const CLOSED = {
  outcome: 'not_sent',
  cause: 'batch_closed',
  sendAttemptUsed: true,
  permanent: false,
  sent: false,
};

describe('a create that a batch pays for', () => {
  let harness: CreateHarness;
  let reply: { status: number; body: object };
  beforeEach(async () => {
    reply = { status: 200, body: { id: 'video_1', status: 'queued' } };
    harness = await CreateHarness.open((_, response) => json(response, reply.status, reply.body));
    harness.rows = [rowOf(0, video('a kite'))];
  });
  afterEach(() => harness.close());

  const fence = (payer = PAYER) =>
    harness.journal.putRecord(fenceLog(NAMESPACE, payer), 0, { v: 1, kind: 'fence', nonce: 'f', at: '' });

  interface Asked {
    readonly runId?: string;
    readonly payer?: string;
    readonly journal?: CreateJournal;
    readonly policy?: CreatePolicy;
    readonly row?: Partial<GroupedCreate>;
  }

  const environment = (runId: string, startToCloseTimeoutMs: number) =>
    new MockActivityEnvironment({
      workflowNamespace: NAMESPACE,
      workflowExecution: { workflowId: PAYER, runId },
      startToCloseTimeoutMs,
      retryPolicy: { maximumAttempts: 5 },
    });

  async function create({ runId = 'run', payer = PAYER, policy, row, journal }: Asked = {}) {
    const deps: PaidDeps = { ...harness.deps, ...(journal && { journal }), gate: new RefusalGate() };
    const { answers } = await environment(runId, 70_000).run<
      [CreateVideosInput],
      CreateVideosResult,
      (input: CreateVideosInput) => Promise<CreateVideosResult>
    >(createCreateVideos(deps, harness.pages), {
      rows: [{ page: PAGE, index: 0, creationKey: KEY.creationKey, ...row }],
      payer,
      ...(policy && { policy }),
    });
    return answers[0] as CreateVideoAnswer;
  }

  /** The journal, with something that happens right after one of its answers. */
  const withAfter = (
    after: Partial<Record<'append' | 'readRecord', (log: CampaignLog) => Promise<unknown>>>,
  ) =>
    ({
      ...harness.journal,
      append: async (...args: Parameters<CreateJournal['append']>) => {
        const end = await harness.journal.append(...args);
        if (args[2].kind === 'intent') await after.append?.({ namespace: '', name: '' });
        return end;
      },
      readRecord: async (...args: Parameters<CreateJournal['readRecord']>) => {
        const record = await harness.journal.readRecord(...args);
        await after.readRecord?.(args[0]);
        return record;
      },
    }) satisfies CreateJournal;

  it('says who pays in its intent, and who sends for the payer', async () => {
    expect(await create()).toMatchObject({ outcome: 'created' });
    expect(await harness.journal.read(KEY)).toMatchObject([{ kind: 'intent', payer: PAYER }, {}]);
    expect(await harness.journal.readRecord(ownerLog(NAMESPACE, PAYER), 0)).toMatchObject({ run: 'run' });
  });

  it('sends nothing once the batch is fenced, and leaves the row to the next batch', async () => {
    await fence();
    expect(await create()).toMatchObject(CLOSED);
    expect(harness.service.seen).toHaveLength(0);
    expect(await harness.journal.read(KEY)).toMatchObject([{}, { kind: 'answer', answer: CLOSED }]);
    expect(await create({ payer: NEXT, runId: 'next' })).toMatchObject({
      outcome: 'created',
      sendAttempt: 1,
    });
    expect(harness.service.seen).toHaveLength(1);
  });

  it('sends nothing where the fence comes between the intent and the send', async () => {
    const journal = withAfter({ append: () => fence() });
    expect(await create({ journal })).toMatchObject(CLOSED);
    expect(harness.service.seen).toHaveLength(0);
  });

  it('where the fence comes after it was looked for, its intent is there for whoever put the fence', async () => {
    let entries: unknown;
    const journal = withAfter({
      readRecord: async ({ name }) => {
        if (!name.startsWith('fence/')) return;
        await fence();
        entries = await harness.journal.read(KEY);
      },
    });
    expect(await create({ journal })).toMatchObject({ outcome: 'created' });
    expect(entries).toMatchObject([{ kind: 'intent', payer: PAYER }]);
    expect(harness.service.seen).toHaveLength(1);
  });

  it('sends nothing from another run of the batch than the first that sent', async () => {
    await create();
    expect(await create({ runId: 'reset', row: { creationKey: 'row-1' } })).toMatchObject(CLOSED);
    expect(await create({ row: { creationKey: 'row-2' } })).toMatchObject({ outcome: 'created' });
    expect(harness.service.seen).toHaveLength(2);
  });

  it('of two runs that send first at once, one does', async () => {
    const answers = await Promise.all(
      ['a', 'b', 'c', 'd'].map((runId) => create({ runId, row: { creationKey: `row-${runId}` } })),
    );
    expect(answers.filter(({ outcome }) => outcome === 'created')).toHaveLength(1);
    expect(harness.service.seen).toHaveLength(1);
  });

  it('sends nothing where nobody can say whether the batch is closed', async () => {
    const journal = {
      ...harness.journal,
      readRecord: () => Promise.reject(new Error('the store does not answer')),
    };
    const down = {
      outcome: 'not_sent',
      cause: 'journal_unavailable',
      sendAttemptUsed: true,
      permanent: false,
    };
    expect(await create({ journal })).toMatchObject(down);
    expect(harness.service.seen).toHaveLength(0);
  });

  it('does not send a call of unknown fate again under its key once the batch is fenced', async () => {
    const policy: CreatePolicy = {
      idempotency: { header: 'Idempotency-Key', honoured: true, windowSeconds: 86_400 },
    };
    reply = { status: 502, body: {} };
    const unknown = await create({ policy });
    expect(unknown).toMatchObject({ outcome: 'unconfirmed' });
    const sameKey = (unknown as UnconfirmedCall).evidence.sendId as string;
    await fence();
    const again = await create({ policy, row: { sameKey } });
    expect(again).toMatchObject({ outcome: 'unconfirmed', sent: false });
    expect(harness.service.seen).toHaveLength(1);
    reply = { status: 200, body: { id: 'video_1', status: 'queued' } };
    const other = { payer: NEXT, runId: 'next', policy, row: { sameKey } };
    expect(await create(other)).toMatchObject({ outcome: 'created' });
    expect(await harness.journal.read(KEY)).toMatchObject([{ payer: PAYER }, {}, {}, {}, {}]);
  });

  it('an image says at once that its batch is closed, and is not tried again', async () => {
    const request = { model: 'm', prompt: 'a kite' };
    harness.rows = [rowOf(0, { operation: 'generate_image', request })];
    await fence();
    const answer = await environment('run', 480_000).run<
      [CampaignImageInput],
      ImageOutcome | WaitingImage,
      (input: CampaignImageInput) => Promise<ImageOutcome | WaitingImage>
    >(createCampaignImage(harness.deps, harness.pages), {
      page: PAGE,
      index: 0,
      creationKey: KEY.creationKey,
      payer: PAYER,
    });
    expect(answer).toMatchObject(CLOSED);
    expect(harness.service.seen).toHaveLength(0);
  });
});

describe('rows of which only what is recorded is wanted', () => {
  it('are looked up 500 at a time, and nothing is sent', async () => {
    const harness = await CreateHarness.open((_, response) => json(response, 500, {}));
    try {
      harness.rows = [rowOf(0, video('a kite'))];
      const look = (rows: number, extra: Partial<GroupedCreate> = {}) => {
        const row = { page: PAGE, index: 0, recordedOnly: true, ...extra } as const;
        return harness.environment.run<
          [CreateVideosInput],
          CreateVideosResult,
          (input: CreateVideosInput) => Promise<CreateVideosResult>
        >(createCreateVideos(harness.deps, harness.pages), {
          rows: Array.from({ length: rows }, (_, place) => ({ ...row, creationKey: `row-${place}` })),
        });
      };
      const { answers } = await look(500);
      expect(answers).toHaveLength(500);
      expect(new Set(answers.map((answer) => answer.outcome === 'not_sent' && answer.cause))).toEqual(
        new Set(['not_recorded']),
      );
      await expect(look(501)).rejects.toThrow(RangeError);
      await expect(look(26, { sameKey: 'ours' })).rejects.toThrow(RangeError);
      expect(harness.service.seen).toHaveLength(0);
    } finally {
      await harness.close();
    }
  });
});

describe('what is written once of a batch', () => {
  let harness: CreateHarness;
  beforeEach(async () => {
    harness = await CreateHarness.open((_, response) => json(response, 500, {}));
  });
  afterEach(() => harness.close());

  it('[C4.4a] stands although the reply to its write was lost, and a write that failed is an error', async () => {
    const { journal } = harness;
    const lost = async (...record: Parameters<CreateJournal['putRecord']>): Promise<never> => {
      await journal.putRecord(...record);
      throw new Error('The reply was lost.');
    };
    const mute: CreateJournal = { ...journal, putRecord: lost };
    expect(await ownsBatch(mute, NAMESPACE, PAYER, 'run-1')).toBe(true);
    expect(await ownsBatch(mute, NAMESPACE, PAYER, 'run-2')).toBe(false);
    await fenceBatch(mute, NAMESPACE, PAYER);
    expect(await journal.readRecord(fenceLog(NAMESPACE, PAYER), 0)).toMatchObject({ kind: 'fence' });
    const send = { ...KEY, sendAttempt: 0 };
    expect(await noteFree(mute, send, { by: PAYER, deducts: true })).toMatchObject({ by: PAYER });
    expect(await noteFree(mute, send, { by: NEXT, deducts: false })).toMatchObject({ by: PAYER });
    const broken: CreateJournal = { ...journal, putRecord: () => Promise.reject(new Error('full')) };
    await expect(ownsBatch(broken, NAMESPACE, NEXT, 'run-1')).rejects.toThrow('full');
    await expect(fenceBatch(broken, NAMESPACE, NEXT)).rejects.toThrow('full');
    await expect(noteFree(broken, { ...send, sendAttempt: 1 }, { by: NEXT, deducts: true })).rejects.toThrow(
      'full',
    );
  });
});
