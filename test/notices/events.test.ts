import { startCampaign } from '../support/campaign';
import { canary, CanarySearch } from '../support/canary';
import { eventually } from '../support/eventually';
import { type MediaStack, SANDBOX_KEY } from '../support/media-stack';
import { resetWorkflow } from '../support/reset-workflow';
import { sharedStack } from '../support/shared-stack';
import { type Receiver, startReceiver } from './support/receiver';
import { endNotices, startTestNotices, type TestNotices } from './support/test-notices';

const PROMPT = canary('prompt', 'Nt7wq');

/** What happens, and which notices come of it: everything real, with a receiver on loopback. */
describe('notices about calls and campaigns', () => {
  let receiver: Receiver;
  let notices: TestNotices;
  // Before the stack, whose connection they use.
  afterAll(async () => {
    await notices.stop();
    await endNotices(await stack());
    await receiver.close();
  });
  const stack = sharedStack(
    { sandbox: { timing: { queuedMs: 0, runningMs: 0 }, videos: 'shared' } },
    async (made) => {
      receiver = await startReceiver();
      await made.startWorker();
      notices = await startTestNotices(made, receiver);
    },
  );

  const requestOf = (prompt: string) => ({ model: 'cine-1', prompt, durationSeconds: 2 });
  const about = (id: string) => (data: { readonly [name: string]: unknown }) => data['id'] === id;
  const loseReply = ({ sandbox }: MediaStack, prompt: string) =>
    sandbox.admin.addFaults([
      {
        operation: 'create',
        promptIncludes: prompt,
        action: { type: 'lose_reply', accepted: true, how: 'reset' },
      },
    ]);
  const rows = (n: number, prompt: string) =>
    Array.from({ length: n }, (_, row) => ({ id: `r${row}`, model: 'cine-1', prompt, duration: 2 }));

  it.concurrent('a video that ended: ids and its cost, once, without its prompt', async () => {
    const { media, server } = await stack();
    const id = server.uniqueId('ended');
    const outcome = await (await media.startVideo({ request: requestOf(PROMPT.value) }, { id })).result();
    const { notice, headers } = await receiver.until('call.ended', about(id));
    expect(notice.data).toMatchObject({
      ...{ id, kind: 'video', status: 'COMPLETED', outcome: 'completed', namespace: server.namespace },
      taskId: outcome.outcome === 'completed' && outcome.video.taskId,
      cost: { microUnits: 100_000, currency: 'USD' },
      command: `temporal-media status ${id}`,
    });
    expect(headers).toMatchObject({ 'content-type': 'application/json' });
    expect(receiver.taken('call.ended', about(id))).toHaveLength(1);
  });

  it.concurrent('a workflow that was terminated has ended too', async () => {
    const { media, server } = await stack();
    const id = server.uniqueId('terminated');
    await media.startVideo({ request: requestOf('a long wait') }, { id, startDelay: '1 hour' });
    await server.client.workflow.getHandle(id).terminate();
    const { notice } = await receiver.until('call.ended', about(id));
    expect(notice.data).toMatchObject({ status: 'TERMINATED', outcome: null, cost: { microUnits: null } });
  });

  it.concurrent('a reset ends no call: only the end of the run that continues is one', async () => {
    const made = await stack();
    const { media, server } = made;
    const id = server.uniqueId('reset');
    await media.startVideo({ request: requestOf('[run:600s] a long take') }, { id });
    await eventually('a decision', async () => {
      const { events } = await server.client.workflow.getHandle(id).fetchHistory();
      return events?.some((event) => event.workflowTaskCompletedEventAttributes != null);
    });
    const first = await server.client.workflow.getHandle(id).describe();
    await resetWorkflow(server, id);
    const other = server.uniqueId('other');
    await media.startVideo({ request: requestOf('a long wait') }, { id: other, startDelay: '1 hour' });
    await server.client.workflow.getHandle(other).terminate();
    // What ended later was found.
    await receiver.until('call.ended', about(other));
    await eventually('two more looks', looks(made, 2));
    expect(receiver.taken('call.ended', about(id))).toEqual([]);
    await server.client.workflow.getHandle(id).terminate();
    const { notice } = await receiver.until('call.ended', about(id));
    expect(notice.data['runId']).not.toBe(first.runId);
    await eventually('two more looks', looks(made, 2));
    expect(receiver.taken('call.ended', about(id))).toHaveLength(1);
  });

  it.concurrent('an image, whatever runs it', async () => {
    const { media, server } = await stack();
    const request = { model: 'image-2', prompt: PROMPT.value, size: '512x512' };
    const [workflow, other] = [server.uniqueId('image'), server.uniqueId('image')];
    await media.images.execute({ request }, { id: workflow, as: 'workflow' });
    // An activity where the server runs them.
    await media.images.execute({ request }, { id: other });
    for (const id of [workflow, other]) {
      const { notice } = await receiver.until('call.ended', about(id));
      expect(notice.data).toMatchObject({ kind: 'image', outcome: 'completed' });
    }
  });

  it.concurrent.each(['end', 'wait'] as const)(
    'an unconfirmed call (%s) needs a person, whom one notice reaches',
    async (onUnconfirmed) => {
      const made = await stack();
      const prompt = `unknown fate ${onUnconfirmed} ${PROMPT.value}`;
      await loseReply(made, prompt);
      const id = made.server.uniqueId('unconfirmed');
      await made.media.startVideo({ request: requestOf(prompt), onUnconfirmed }, { id });
      const { notice } = await receiver.until('call.unconfirmed', about(id));
      expect(notice.data).toMatchObject({
        ...{ operation: 'create_video', model: 'cine-1', workflowId: id },
        estimate: { microUnits: 100_000, currency: 'USD' },
        command: `temporal-media unconfirmed show ${id}`,
      });
      if (onUnconfirmed === 'end') await receiver.until('call.ended', about(id));
      // The journal and the workflow's result name the same event.
      await eventually('two more looks', looks(made, 2));
      expect(receiver.taken('call.unconfirmed', about(id))).toHaveLength(1);
      const page = await made.media.reviewJournal({ list: 'unconfirmed', creationKey: id });
      expect(notice.data['sendId']).toBe(page.unconfirmed[0]?.evidence.sendId);
      await made.media.resolveUnconfirmed(
        { creationKey: id, decision: 'declareLost', by: 'ada', reason: 'tests' },
        id,
      );
    },
  );

  it.concurrent('a campaign: 80 and 100 % of its budget, its unconfirmed rows and its end', async () => {
    const made = await stack();
    const prompt = `rows of a campaign ${PROMPT.value}`;
    await loseReply(made, prompt);
    const budget = { microUnits: 300_000, currency: 'USD' };
    const handle = await startCampaign(made, rows(5, prompt), { budget });
    const campaign = handle.workflowId;
    const ofIt = (data: { readonly [name: string]: unknown }) => data['campaign'] === campaign;
    expect(await handle.result()).toMatchObject({
      counts: { completed: 2, unconfirmed: 1, skipped_budget: 2 },
    });
    const ended = await receiver.until('campaign.ended', ofIt);
    expect(ended.notice.data).toMatchObject({
      ...{ outcome: 'completed', counts: { completed: 2, unconfirmed: 1, skipped_budget: 2 } },
      cost: { currency: 'USD' },
      command: `temporal-media campaign report ${campaign}`,
    });
    expect((await receiver.until('call.unconfirmed', ofIt)).notice.data).toMatchObject({ rows: 1 });
    await receiver.until('budget.reached', (data) => ofIt(data) && data['percent'] === 80);
    const full = await receiver.until('budget.reached', (data) => ofIt(data) && data['percent'] === 100);
    expect(full.notice.data).toMatchObject({ used: 300_000, budget });
    await eventually('two more looks', looks(made, 2));
    expect(receiver.taken('budget.reached', ofIt)).toHaveLength(2);
    expect(receiver.taken('call.unconfirmed', ofIt)).toHaveLength(1);
  });

  /** Counts the looks from now on. */
  function looks({ server, taskQueue }: MediaStack, least: number): () => Promise<boolean> {
    const handle = server.client.workflow.getHandle(`media-notices/${taskQueue}`);
    let first: number | undefined;
    return async () => {
      const { historyLength } = await handle.describe();
      first ??= historyLength;
      // A look and its pause are 11 events.
      return historyLength >= first + least * 11;
    };
  }

  it('no prompt, key or address is in a notice or in a history of notices', async () => {
    const made = await stack();
    await receiver.until('campaign.ended');
    const search = new CanarySearch([
      PROMPT,
      { name: 'key', value: SANDBOX_KEY, core: SANDBOX_KEY },
      { name: 'service', value: made.sandbox.url, core: new URL(made.sandbox.url).host },
      { name: 'media', value: made.sandbox.mediaUrl, core: new URL(made.sandbox.mediaUrl).host },
      { name: 'token of the endpoint', value: receiver.url, core: 't0ken-of-the-hook' },
      { name: 'folder', value: made.dataDir, core: made.dataDir },
    ]);
    for (const { body } of receiver.all) expect(search.hits(Buffer.from(body))).toEqual([]);
    const { client } = made.server;
    let histories = 0;
    // Receivers that hang may use all of a worker's slots.
    const priorities = new Map<string, unknown>();
    for await (const { workflowId, runId } of client.workflow.list({
      query: `TaskQueue = '${made.taskQueue}/notices'`,
    })) {
      histories += 1;
      const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
      expect(search.hits(Buffer.from(JSON.stringify(history, bytes)))).toEqual([]);
      for (const { activityTaskScheduledEventAttributes: scheduled } of history.events ?? [])
        if (scheduled != null)
          priorities.set(scheduled.activityType?.name ?? '', scheduled.priority?.priorityKey ?? 0);
    }
    expect(histories).toBeGreaterThan(8);
    expect(Object.fromEntries(priorities)).toEqual({ 'notices.collect': 1, 'notices.deliver': 0 });
  });
});

/** Payloads as the text that they are. */
function bytes(_name: string, value: unknown): unknown {
  const { type, data } = (value ?? {}) as { readonly type?: unknown; readonly data?: readonly number[] };
  return type === 'Buffer' && data !== undefined ? Buffer.from(data).toString('utf8') : value;
}
