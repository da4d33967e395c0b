import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { announceBills } from '../../packages/notices/src';
import { startCampaign } from '../support/campaign';
import { eventually } from '../support/eventually';
import { type MediaStack, startMediaStack } from '../support/media-stack';
import { type Receiver, startReceiver } from './support/receiver';
import { endNotices, endpointOf, startTestNotices } from './support/test-notices';

/** Notices about accounts, their limits and their bills. */
describe('notices about money', () => {
  let made: MediaStack;
  let receiver: Receiver;
  const stopping: (() => Promise<unknown>)[] = [];
  beforeEach(async () => {
    made = await startMediaStack({ sandbox: { timing: { queuedMs: 0, runningMs: 0 }, videos: 'shared' } });
    receiver = await startReceiver();
  });
  afterEach(async () => {
    for (const stop of stopping.splice(0).reverse()) await stop();
    await endNotices(made);
    await receiver.close();
    await made.stop();
  });

  async function start(env: Record<string, string> = {}): Promise<void> {
    await made.startWorker({ env });
    const notices = await startTestNotices(
      { ...made, config: { ...made.config, accounts: env['MEDIA_ACCOUNTS'] } },
      receiver,
    );
    stopping.push(() => notices.stop());
  }
  const request = { model: 'cine-1', prompt: 'a kite', durationSeconds: 2 };
  const refuse = (operation: 'create' | 'generate') =>
    made.sandbox.admin.addFaults([
      { operation, times: 0, action: { type: 'status', status: 401, body: { error: 'no such key' } } },
    ]);
  const looks = async (least: number): Promise<void> => {
    const handle = made.server.client.workflow.getHandle(`media-notices/${made.taskQueue}`);
    const { historyLength: first } = await handle.describe();
    // A look and its pause are 11 events.
    await eventually('looks', async () => (await handle.describe()).historyLength >= first + least * 11);
  };

  it('an account that the service refuses: once, found by a call that ended', async () => {
    await start();
    await refuse('create');
    const id = made.server.uniqueId('refused');
    const outcome = await (await made.media.startVideo({ request }, { id })).result();
    expect(outcome).toMatchObject({ outcome: 'rejected', reason: 'credentials' });
    const ended = await receiver.until('call.ended', (data) => data['id'] === id);
    expect(ended.notice.data).toMatchObject({
      outcome: 'rejected',
      reason: 'credentials',
      cost: { state: 'none' },
    });
    const { notice } = await receiver.until('account.closed');
    expect(notice.data).toMatchObject({ reason: 'credentials', command: 'temporal-media doctor' });
    expect(notice.data['account']).toMatch(/^default@[0-9a-f]{8}$/);
    await looks(2);
    expect(receiver.taken('account.closed')).toHaveLength(1);
  });

  it('an account that holds back the rows of a campaign', async () => {
    await start();
    await refuse('create');
    const rows = Array.from({ length: 3 }, (_, row) => ({
      id: `r${row}`,
      model: 'cine-1',
      prompt: 'x',
      duration: 2,
    }));
    const campaign = await startCampaign(made, rows);
    const { notice } = await receiver.until('account.closed');
    expect(notice.data).toMatchObject({ reason: 'credentials' });
    await made.sandbox.admin.clearFaults();
    await campaign.terminate();
  });

  /** Starts a worker and notices for an account with these limits, each in USD per month. */
  async function startWithLimits(limits: { readonly [setting: string]: unknown }): Promise<void> {
    const file = path.join(made.dataDir, 'accounts.json');
    await writeFile(path.join(made.dataDir, 'key'), 'sandbox-key');
    const account = { name: 'studio', baseUrl: made.sandbox.url, keyFile: 'key', ...limits };
    const allowedMediaOrigins = [new URL(made.sandbox.mediaUrl).origin];
    await writeFile(file, JSON.stringify({ version: 1, accounts: [{ ...account, allowedMediaOrigins }] }));
    await start({ MEDIA_ACCOUNTS: file });
  }

  it('80 and 100 % of a spend limit, of calls that fit and one that does not', async () => {
    await startWithLimits({ spendLimit: { amount: '0.25', currency: 'USD', per: 'month' } });
    const video = () => made.media.startVideo({ request, account: 'studio' });
    for (let n = 0; n < 2; n += 1)
      expect(await (await video()).result()).toMatchObject({ outcome: 'completed' });
    const at80 = await receiver.until('limit.reached');
    expect(at80.notice.data).toMatchObject({
      ...{ account: 'studio', percent: 80, used: 200_000, per: 'month' },
      limit: { microUnits: 250_000, currency: 'USD' },
    });
    const held = await video();
    await receiver.until('limit.reached', (data) => data['percent'] === 100);
    await looks(2);
    expect(receiver.taken('limit.reached')).toHaveLength(2);
    await made.server.client.workflow.getHandle(held.workflowId).terminate();
  });

  it('80 and 100 % of the limit of a label, also without an amount of its own, and not of its account', async () => {
    await startWithLimits({
      spendLimit: { amount: '10', currency: 'USD', per: 'month' },
      limits: [{ label: 'tenant', each: '0.25USD', per: 'month', values: { acme: '50USD' } }],
    });
    const video = () => made.media.startVideo({ request, account: 'studio', labels: { tenant: 'globex' } });
    for (let n = 0; n < 2; n += 1)
      expect(await (await video()).result()).toMatchObject({ outcome: 'completed' });
    const at80 = await receiver.until('limit.reached');
    expect(at80.notice.data).toMatchObject({
      ...{ account: 'studio/tenant=globex', percent: 80, used: 200_000, per: 'month' },
      limit: { microUnits: 250_000, currency: 'USD' },
    });
    const held = await video();
    const at100 = await receiver.until('limit.reached', (data) => data['percent'] === 100);
    expect(at100.notice.data).toMatchObject({ account: 'studio/tenant=globex', used: 200_000 });
    await looks(2);
    expect(receiver.taken('limit.reached')).toHaveLength(2);
    await made.server.client.workflow.getHandle(held.workflowId).terminate();
  });

  it('100 % of a spend limit that holds back an image, whatever runs it', async () => {
    await startWithLimits({ spendLimit: { amount: '0.07', currency: 'USD', per: 'month' } });
    const call = { request: { model: 'image-2', prompt: 'a kite' }, account: 'studio', startLimit: '1h' };
    const { images } = made.media;
    expect(await images.execute(call, { id: made.server.uniqueId('image') })).toMatchObject({
      outcome: 'completed',
    });
    const id = made.server.uniqueId('image');
    // An activity where the server runs them.
    await images.start(call, { id });
    const { notice } = await receiver.until('limit.reached');
    expect(notice.data).toMatchObject({ account: 'studio', percent: 100, used: 40_000 });
    const { activity, workflow } = made.server.client;
    for (const handle of [activity.getHandle(id), workflow.getHandle(id)])
      await handle.terminate('tests').catch(() => undefined);
  });

  it('an image whose results were lost: paid for, and reported once, whether its end or the journal is read first', async () => {
    await start({ MEDIA_ALLOWED_MEDIA_ORIGINS: '' });
    const body = {
      created: 7,
      data: [{ url: 'http://127.0.0.1:9/generated/lost.png' }],
      usage: { images: 1 },
    };
    await made.sandbox.admin.addFaults([
      { operation: 'generate', action: { type: 'accept_then_status', status: 200, body } },
    ]);
    const id = made.server.uniqueId('lost');
    const image = { model: 'image-2', prompt: 'a lost picture' };
    expect(await made.media.images.execute({ request: image }, { id })).toMatchObject({
      outcome: 'results_lost',
    });
    const { notice } = await receiver.until('call.results_lost', (data) => data['id'] === id);
    expect(notice.data).toMatchObject({
      operation: 'generate_image',
      command: `temporal-media unconfirmed show ${id}`,
    });
    await looks(6);
    expect(receiver.taken('call.results_lost')).toHaveLength(1);
  });

  it('bills that differ, announced by another process, once for the same check', async () => {
    await start();
    const file = path.join(made.dataDir, 'notify.json');
    const endpoint = await endpointOf(made, receiver);
    await writeFile(file, JSON.stringify({ version: 1, endpoints: [endpoint] }));
    const bills = {
      ...{ reference: 'invoice 2026-11', differing: 3, command: 'temporal-media money check invoice.csv' },
      billed: { microUnits: 150_000, currency: 'USD' },
    };
    const { client } = made.server;
    const announce = (env: NodeJS.ProcessEnv) => announceBills(client, made.taskQueue, bills, env);
    expect(await announce({})).toBe(false);
    expect(await announce({ MEDIA_NOTIFY: file })).toBe(true);
    expect(await announce({ MEDIA_NOTIFY: file })).toBe(true);
    const { notice } = await receiver.until('bills.differ');
    expect(notice.data).toMatchObject({
      reference: 'invoice 2026-11',
      differing: 3,
      billed: { microUnits: 150_000, currency: 'USD' },
    });
    await looks(1);
    expect(receiver.all.filter((one) => one.notice.type === 'bills.differ')).toHaveLength(1);
  });
});
