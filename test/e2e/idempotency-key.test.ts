import { type FaultAction } from '../../packages/sandbox/src';
import { type CreatePolicy } from '../../src/domain/create-policy';
import { WORKFLOW } from '../../src/domain/names';
import { CREATE_TIMEOUTS } from '../../src/domain/timeouts';
import { type GenerateVideoInput } from '../../src/domain/workflow-inputs';
import { type generateVideo } from '../../src/workflows/generate-video';
import { accepted, received } from '../support/accepted';
import { resultsOf, startCampaign } from '../support/campaign';
import { type MediaStack, startMediaStack } from '../support/media-stack';
import { sharedStack } from '../support/shared-stack';

// A stalled reply is waited for as long as a request may take.
Object.assign(CREATE_TIMEOUTS, { httpBudgetMs: 8_000 });

const HEADER = 'Idempotency-Key';
const VOUCHED = { header: HEADER, honoured: true, windowSeconds: 3600 } as const;
const timing = { queuedMs: 0, runningMs: 500 };

const requestOf = (prompt: string) => ({ model: 'cine-1', prompt, durationSeconds: 2 });

const workerWith =
  (policy: CreatePolicy) =>
  (stack: MediaStack): Promise<unknown> =>
    stack.startWorker({ env: { MEDIA_CREATE_POLICY: JSON.stringify(policy) } });

async function misbehave(
  { sandbox }: MediaStack,
  promptIncludes: string,
  action: FaultAction,
  times = 1,
): Promise<void> {
  await sandbox.admin.addFaults([{ operation: 'create', promptIncludes, times, action }]);
}

async function outcomeOf(
  stack: MediaStack,
  prompt: string,
  input: Partial<GenerateVideoInput> = {},
  id = stack.server.uniqueId('keyed'),
) {
  const started = await stack.media.startVideo({ request: requestOf(prompt), ...input }, { id });
  return { id, outcome: await started.result() };
}

async function paid(
  stack: MediaStack,
  prompt: string,
): Promise<readonly [received: number, accepted: number]> {
  return [await received(stack, prompt), await accepted(stack, prompt)];
}

/** The keys that came with this prompt, in the order of their arrival. */
async function keysOf({ sandbox }: MediaStack, prompt: string): Promise<(string | undefined)[]> {
  const creates = await sandbox.admin.requests({ operation: 'create' });
  return creates
    .filter(({ json }) => (json as { prompt?: unknown } | undefined)?.prompt === prompt)
    .map(({ headers }) => headers['idempotency-key']);
}

describe('a service that honours idempotency keys', () => {
  const stack = sharedStack(
    { sandbox: { timing, idempotency: 'honoured' } },
    workerWith({ idempotency: VOUCHED }),
  );

  const LOSSES: readonly (readonly [string, FaultAction])[] = [
    ['reset', { type: 'lose_reply', accepted: true, how: 'reset' }],
    ['closed', { type: 'lose_reply', accepted: true, how: 'close' }],
    ['cut', { type: 'lose_reply', accepted: true, how: 'cut_body' }],
    ['stalled', { type: 'lose_reply', accepted: true, how: 'stall' }],
    ['lost before it was accepted', { type: 'lose_reply', accepted: false, how: 'reset' }],
    ['answered with 500', { type: 'accept_then_status', status: 500 }],
    ['answered with 502', { type: 'accept_then_status', status: 502 }],
    ['answered with 503', { type: 'accept_then_status', status: 503 }],
    ['answered with 504', { type: 'accept_then_status', status: 504 }],
    ['answered without an id', { type: 'accept_then_status', status: 200, body: { ok: true } }],
  ];
  it.concurrent.each(LOSSES)(
    '[C4.4a] a create whose reply was %s ends with the one video',
    async (what, fault) => {
      const prompt = `reply ${what}`;
      await misbehave(await stack(), prompt, fault);
      const { outcome } = await outcomeOf(await stack(), prompt);
      expect(outcome).toMatchObject({ outcome: 'completed', billing: { state: 'estimated' } });
      expect(await paid(await stack(), prompt)).toEqual([2, 1]);
      const [first, second] = await keysOf(await stack(), prompt);
      expect(first).toMatch(/^[0-9a-f]{64}$/);
      expect(second).toBe(first);
    },
  );

  it.concurrent('[C4.4a] two deployments on one account do not get the task of the other for the same creation key', async () => {
    const [production, staging] = [await stack(), await startMediaStack()];
    try {
      const { MEDIA_BASE_URL = '', MEDIA_MODELS = '', MEDIA_ALLOWED_MEDIA_ORIGINS = '' } = production.env;
      const policy = JSON.stringify({ idempotency: VOUCHED });
      const env = { MEDIA_BASE_URL, MEDIA_MODELS, MEDIA_ALLOWED_MEDIA_ORIGINS, MEDIA_CREATE_POLICY: policy };
      await staging.startWorker({ env });
      const creationKey = production.server.uniqueId('order-7');
      for (const { server, taskQueue } of [production, staging]) {
        const outcome = await server.client.workflow.execute<typeof generateVideo>(WORKFLOW.generateVideo, {
          taskQueue,
          workflowId: server.uniqueId('order'),
          args: [{ request: requestOf('the order'), creationKey }],
        });
        expect(outcome).toMatchObject({ outcome: 'completed' });
      }
      expect(await paid(production, 'the order')).toEqual([2, 2]);
    } finally {
      await staging.stop();
    }
  });

  it.concurrent('[C7.10] a refusal of the repetition leaves the fate unknown, and nothing more is sent', async () => {
    const prompt = 'refused in between';
    await misbehave(await stack(), prompt, { type: 'lose_reply', accepted: true, how: 'reset' });
    await misbehave(await stack(), prompt, { type: 'status', status: 401 });
    const { id, outcome } = await outcomeOf(await stack(), prompt);
    expect(outcome).toMatchObject({
      outcome: 'unconfirmed',
      evidence: { cause: 'same_key_refused', httpStatus: 401 },
      billing: { state: 'needs_review' },
    });
    expect(await paid(await stack(), prompt)).toEqual([2, 1]);
    // Mended: the same id finds its video within the window.
    expect((await outcomeOf(await stack(), prompt, {}, id)).outcome).toMatchObject({
      outcome: 'completed',
    });
    expect((await paid(await stack(), prompt))[1]).toBe(1);
  });

  it.concurrent('[C4.4c] a person who sends again buys anew, under another key', async () => {
    const prompt = 'bought again by decision';
    await misbehave(await stack(), prompt, { type: 'lose_reply', accepted: true, how: 'reset' });
    await misbehave(await stack(), prompt, { type: 'status', status: 403 });
    const { id, outcome } = await outcomeOf(await stack(), prompt);
    expect(outcome).toMatchObject({ outcome: 'unconfirmed' });
    const { media } = await stack();
    const decision = { decision: 'resubmit', by: 'ada', reason: 'not in the console' } as const;
    expect(await media.resolveUnconfirmed({ creationKey: id, ...decision })).toMatchObject({
      resolved: true,
    });
    expect((await outcomeOf(await stack(), prompt, {}, id)).outcome).toMatchObject({ outcome: 'completed' });
    expect(await paid(await stack(), prompt)).toEqual([3, 2]);
    const [first, second, third] = await keysOf(await stack(), prompt);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
  });

  it.concurrent('the journal names the video, and asks nobody for a decision', async () => {
    const prompt = 'on the books';
    await misbehave(await stack(), prompt, { type: 'lose_reply', accepted: true, how: 'reset' });
    const { id, outcome } = await outcomeOf(await stack(), prompt);
    if (outcome.outcome !== 'completed') throw new Error(`expected a video, got ${outcome.outcome}`);
    const { media } = await stack();
    expect((await media.reviewJournal({ list: 'unconfirmed', creationKey: id })).unconfirmed).toEqual([]);
    expect((await media.reviewJournal({ list: 'created', creationKey: id })).created).toMatchObject([
      { creationKey: id, taskId: outcome.video.taskId },
    ]);
    // Started again it is returned, and nothing is sent.
    expect((await outcomeOf(await stack(), prompt, {}, id)).outcome).toMatchObject({
      outcome: 'completed',
      video: { taskId: outcome.video.taskId },
    });
    expect(await paid(await stack(), prompt)).toEqual([2, 1]);
  });

  it.concurrent('rows of a campaign need no person either', async () => {
    const prompts = ['row one', 'row two', 'row three'];
    for (const prompt of prompts)
      await misbehave(await stack(), prompt, { type: 'lose_reply', accepted: true, how: 'reset' });
    const rows = prompts.map((prompt, row) => ({
      id: `r${row}`,
      model: 'cine-1',
      prompt,
      duration: 2,
    }));
    const result = await (await startCampaign(await stack(), rows)).result();
    expect(result).toMatchObject({ outcome: 'completed' });
    const lines = await resultsOf(await stack(), result.results);
    expect([...lines.values()].map(({ outcome }) => outcome)).toEqual(prompts.map(() => 'completed'));
    for (const prompt of prompts) expect(await paid(await stack(), prompt)).toEqual([2, 1]);
  });
});

describe('a service that nobody vouches for', () => {
  const stack = sharedStack(
    { sandbox: { timing, idempotency: 'honoured' } },
    workerWith({ idempotency: { header: HEADER } }),
  );

  it.concurrent('[C4.4c] gets the key, and a create of unknown fate once', async () => {
    const prompt = 'sent with a key';
    await misbehave(await stack(), prompt, { type: 'lose_reply', accepted: true, how: 'reset' });
    const { outcome } = await outcomeOf(await stack(), prompt);
    expect(outcome).toMatchObject({
      outcome: 'unconfirmed',
      evidence: { cause: 'connection_lost_after_send' },
    });
    expect(await paid(await stack(), prompt)).toEqual([1, 1]);
    expect(await keysOf(await stack(), prompt)).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
  });
});

describe('a service that only claims to honour keys', () => {
  const stack = sharedStack(
    { sandbox: { timing, idempotency: 'claimed' } },
    workerWith({ idempotency: VOUCHED }),
  );

  it.concurrent('is found out when it names two tasks: both are on the books, and the money is to be reviewed', async () => {
    const prompt = 'two tasks for one key';
    const { sandbox, server, taskQueue } = await stack();
    await misbehave(await stack(), prompt, { type: 'lose_reply', accepted: true, how: 'reset' });
    // Both callers send again before either has its answer.
    await sandbox.admin.addFaults([
      { operation: 'create', promptIncludes: prompt, times: 2, action: { type: 'delay', ms: 6_000 } },
    ]);
    const input: GenerateVideoInput = {
      creationKey: server.uniqueId('one-key'),
      request: requestOf(prompt),
    };
    const outcomes = await Promise.all(
      ['a', 'b'].map((caller) =>
        server.client.workflow.execute<typeof generateVideo>(WORKFLOW.generateVideo, {
          taskQueue,
          workflowId: server.uniqueId(caller),
          args: [input],
        }),
      ),
    );
    expect(outcomes).toMatchObject([{ outcome: 'completed' }, { outcome: 'completed' }]);
    const told = outcomes.filter(
      (outcome) => outcome.outcome === 'completed' && outcome.billing.state === 'needs_review',
    );
    expect(told).toHaveLength(1);
    const tasks = (await sandbox.admin.tasks()).filter((task) => task.prompt === prompt).slice(1);
    const text = JSON.stringify(told);
    expect(text).toContain('idempotency_not_honoured');
    for (const { id } of tasks) expect(text).toContain(id);
    expect(await paid(await stack(), prompt)).toEqual([3, 3]);
  });
});
