import { type BatchOrders } from '../../src/domain/campaign/batch-messages';
import { batchWorkflowId } from '../../src/domain/campaign/budget-book';
import { type BatchState } from '../../src/domain/campaign/campaign-state';
import { NO_SEGMENTS } from '../../src/domain/campaign/results';
import { QUERY, SIGNAL } from '../../src/domain/names';
import { campaignStateOf, queuesOf, startCampaign } from '../support/campaign';
import { accepted, bought, expectExact, PRICE, videos } from '../support/campaign-books';
import { eventually } from '../support/eventually';
import { type MediaStack } from '../support/media-stack';
import { sharedStack } from '../support/shared-stack';

const LIMIT_MS = 120_000;

describe('a campaign that has to wait', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 500 }, videos: 'shared' } });

  /** Timers that a workflow has started: one that looks again and again starts one for each look. */
  async function timersOf({ server }: MediaStack, workflowId: string): Promise<number> {
    const { events } = await server.client.workflow.getHandle(workflowId).fetchHistory();
    return (events ?? []).filter((event) => event.timerStartedEventAttributes != null).length;
  }

  it.concurrent(
    'for an image call, in a batch that is to hand back, does not look again and again',
    async () => {
      const media = await stack();
      const image = {
        id: 'i',
        operation: 'image',
        model: 'image-2',
        prompt: '[run:16s] a kite',
        size: '512x512',
      };
      const handle = await startCampaign(media, [image]);
      const id = batchWorkflowId(handle.workflowId, 0);
      const batch = media.server.client.workflow.getHandle(id);
      await eventually('the call', async () => {
        const { active } = await batch.query<BatchState>(QUERY.batchState).catch(() => ({ active: [] }));
        return active.some(({ phase }) => phase === 'generating');
      });
      const orders: Omit<BatchOrders, 'n'> = {
        slots: 1,
        createsPerSecond: null,
        granted: null,
        paused: false,
        stop: null,
        handBack: true,
      };
      await batch.signal<[BatchOrders]>(SIGNAL.campaignOrders, { ...orders, n: Number.MAX_SAFE_INTEGER });
      const result = await handle.result();
      expect(result.counts).toEqual({ completed: 1 });
      expect(await timersOf(media, id)).toBeLessThan(9);
    },
    LIMIT_MS,
  );

  it.concurrent(
    'for whoever keeps its book, does not look again and again',
    async () => {
      const media = await stack();
      const rows = videos(1, 'bookless', '[run:12s] ');
      const create = media.server.uniqueId('creates');
      const creator = () => media.startWorker({ env: { MEDIA_TASK_QUEUE: create }, ownConnection: true });
      const worker = await creator();
      const handle = await startCampaign(media, rows, { queues: { ...queuesOf(media), create } });
      await bought(media, rows, 1);
      await worker.stop();
      // The second one asks for the book while it is already asked for.
      await handle.executeUpdate('pause');
      await handle.executeUpdate('pause');
      const completed = async () => (await campaignStateOf(handle)).counts.completed;
      await eventually('its result', async () => (await completed()) === 1, 60_000);
      expect(await timersOf(media, handle.workflowId)).toBeLessThan(6);
      // It has told all it will: what comes late of it, or of anybody else, changes nothing.
      const counts = { completed: 7 };
      const late = { campaignRun: handle.firstExecutionRunId, batch: 0, n: 1_000, ended: [], limits: {} };
      await handle.signal(SIGNAL.campaignReport, { ...late, results: { ...NO_SEGMENTS, counts } });
      expect(await completed()).toBe(1);
      await creator();
      const result = await handle.result();
      expect(result.counts).toEqual({ completed: 1 });
    },
    LIMIT_MS,
  );

  it.concurrent(
    '[C4.4a] paused, it collects what was bought by a batch that is gone, and buys nothing',
    async () => {
      const media = await stack();
      const rows = videos(4, 'paused', '[run:6s] ');
      const handle = await startCampaign(media, rows, { concurrency: 2 });
      await bought(media, rows, 2);
      await handle.executeUpdate('pause');
      await media.server.client.workflow.getHandle(batchWorkflowId(handle.workflowId, 0)).terminate('gone');
      await eventually('both results', async () => (await campaignStateOf(handle)).counts.completed === 2);
      await bought(media, rows, 2);
      await handle.executeUpdate('resume');
      const result = await handle.result();
      expect(result.counts).toEqual({ completed: 4 });
      await expectExact(media, rows, result);
    },
    LIMIT_MS,
  );

  it.concurrent(
    '[C4.4a] a batch that is cancelled by hand in the middle of everything gives its rows to another one',
    async () => {
      const media = await stack();
      const rows = [...videos(3, 'cancelled', '[run:6s] '), ...videos(2, 'tried', '[fail:capacity] ')];
      const drawn = ['a', 'b'].map((id) => ({
        id,
        operation: 'image',
        model: 'image-2',
        prompt: `[run:8s] cancelled ${id}`,
        size: '512x512',
      }));
      const handle = await startCampaign(media, [...rows, ...drawn], { maxAttempts: 2 });
      await bought(media, rows, 5);
      await media.server.client.workflow.getHandle(batchWorkflowId(handle.workflowId, 0)).cancel();
      const result = await handle.result();
      expect(result.counts).toEqual({ completed: 5, failed: 2 });
      expect((await accepted(media, rows)).get('cancelled-0')).toBe(1);
    },
    LIMIT_MS,
  );

  it.concurrent(
    'calls nothing free that a batch may have spent of which it has not heard yet',
    async () => {
      const media = await stack();
      const rows = videos(4, 'unheard', '[run:6s] ');
      const budget = { microUnits: 10 * PRICE, currency: 'USD' };
      const handle = await startCampaign(media, rows, { budget });
      await bought(media, rows, 1);
      const shown = (await campaignStateOf(handle)).budget;
      expect(shown).toMatchObject({ reserved: 4 * PRICE, free: 6 * PRICE });
      expect((await handle.result()).budget).toMatchObject({ free: 6 * PRICE });
    },
    LIMIT_MS,
  );

  it.concurrent(
    'for money that is not there, in a row that costs more than the budget, lets rows that fit go first',
    async () => {
      const media = await stack();
      const [large, ...rows] = videos(4, 'fitting');
      const budget = { microUnits: 3 * PRICE, currency: 'USD' };
      const handle = await startCampaign(media, [{ ...large, duration: 8 }, ...rows], { budget });
      const result = await handle.result();
      expect(result.counts).toEqual({ completed: 3, skipped_budget: 1 });
      expect(result.budget).toMatchObject({ free: 0 });
    },
    LIMIT_MS,
  );
});
