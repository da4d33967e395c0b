import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startNotices, type NotifyEndpoint } from '../../packages/notices/src';
import { endpointsOf } from '../../packages/notices/src/endpoints';
import { freePort } from '../../src/stores/files/this-machine';
import { eventually } from '../support/eventually';
import { type MediaStack, startMediaStack } from '../support/media-stack';
import { startWorkerProcess } from '../support/worker-process';
import { type Receiver, startReceiver, status, TAKE } from './support/receiver';
import { endNotices, endpointOf, FAST, startTestNotices } from './support/test-notices';

/** As many as in an hour with the default pauses, 5 seconds to 10 minutes. */
const FAILURES = 12;
/**
 * How long the receiver is down in the real time of the default pauses, for a look before a release. Otherwise the pauses
 * are short, and it is down for three attempts.
 */
const DOWN_MINUTES = Number(process.env['TEST_RECEIVER_DOWN_MINUTES'] ?? 0);
/** The longest of the default pauses, and the time after which a killed worker's look is repeated. */
const AGAIN_MINUTES = 12;
const PROCESS = path.join(__dirname, 'support', 'notices-process.js');

/** What receivers and workers do wrong, and that each event arrives nevertheless, under one id. */
describe('the delivery of notices', () => {
  const stopping: (() => Promise<unknown>)[] = [];
  // Each test has a queue: what a receiver has not taken is sent for three days.
  let made: MediaStack;
  beforeEach(async () => {
    made = await startMediaStack({ sandbox: { timing: { queuedMs: 0, runningMs: 0 } } });
    await made.startWorker();
  });
  afterEach(async () => {
    for (const stop of stopping.splice(0).reverse()) await stop();
    await endNotices(made);
    await made.stop();
  });

  async function receiving(...given: Parameters<typeof startReceiver>): Promise<Receiver> {
    const receiver = await startReceiver(...given);
    stopping.push(() => receiver.close());
    return receiver;
  }

  const request = { model: 'sketch-lite', prompt: 'a paper boat' };
  async function video(): Promise<string> {
    const { media, server } = made;
    const id = server.uniqueId('video');
    expect(await (await media.startVideo({ request }, { id })).result()).toMatchObject({
      outcome: 'completed',
    });
    return id;
  }
  const of = (id: string) => (data: { readonly [name: string]: unknown }) => data['id'] === id;
  const attempts = ({ all }: Receiver, id: string) => all.filter(({ notice }) => notice.data['id'] === id);

  /** Notices to several receivers, of ended calls only. */
  async function notify(receivers: readonly Pick<Receiver, 'url'>[]): Promise<void> {
    const endpoints: NotifyEndpoint[] = [];
    for (const one of receivers) endpoints.push(await endpointOf(made, one, ['call.ended']));
    const notices = await startTestNotices(made, { url: '' }, { endpoints });
    stopping.push(() => notices.stop());
  }

  it('500, redirects, 410, Retry-After and slow answers: each endpoint at its own pace, under one id', async () => {
    const target = await receiving();
    const failing = await receiving((response, notice, attempt) =>
      (attempt <= FAILURES ? status(500) : TAKE)(response, notice, attempt),
    );
    const redirecting = await receiving((response, notice, attempt) =>
      (attempt <= 2 ? status(302, { location: target.url }) : TAKE)(response, notice, attempt),
    );
    const gone = await receiving(status(410));
    const busy = await receiving(status(429, { 'retry-after': '7200' }));
    // Answers the first attempt never, within the 15 seconds that it has.
    const slow = await receiving((response, notice, attempt) =>
      attempt === 1 ? 599 : TAKE(response, notice, attempt),
    );
    const good = await receiving();
    await notify([failing, redirecting, gone, busy, slow, good]);
    const id = await video();
    const taken = await good.until('call.ended', of(id));
    // What comes later waits for none of them.
    const later = await video();
    await good.until('call.ended', of(later));
    expect(slow.taken('call.ended', of(id))).toEqual([]);
    for (const one of [failing, redirecting]) await one.until('call.ended', of(id));
    expect(attempts(failing, id).map(({ answered }) => answered)).toEqual([
      ...Array.from({ length: FAILURES }, () => 500),
      204,
    ]);
    expect(attempts(redirecting, id).map(({ answered }) => answered)).toEqual([302, 302, 204]);
    expect(target.all).toEqual([]);
    await slow.until('call.ended', of(id));
    const all = [failing, redirecting, gone, busy, slow, good].flatMap((one) => attempts(one, id));
    expect(new Set(all.map((one) => one.id))).toEqual(new Set([taken.id]));
    // Bodies are equal, and signed anew.
    expect(new Set(all.map(({ body }) => body)).size).toBe(1);
    expect(attempts(gone, id)).toHaveLength(1);
    expect(attempts(busy, id)).toHaveLength(1);
    const [{ id: endpoint } = { id: '' }] = endpointsOf([await endpointOf(made, busy)]);
    const handle = made.server.client.workflow.getHandle(`${taken.id}/${endpoint}`);
    const waits = await eventually('the wait that was asked for', async () => {
      const { raw } = await handle.describe();
      return raw.pendingActivities?.map(({ currentRetryInterval: wait }) => Number(wait?.seconds));
    });
    expect(waits).toEqual([7_200]);
  });

  it(
    'a receiver that is down gets everything when it is up, in spite of a worker that was killed',
    async () => {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}/hook?token=t0ken-of-the-hook`;
      const file = path.join(made.dataDir, 'notify.json');
      const endpoint = await endpointOf(made, { url }, ['call.ended']);
      await writeFile(file, JSON.stringify({ version: 1, endpoints: [endpoint] }));
      const env = { MEDIA_NOTIFY: file, ...(DOWN_MINUTES > 0 && { DEFAULT_PAUSES: 'yes' }) };
      const start = async () => {
        const started = await startWorkerProcess(made, PROCESS, env);
        stopping.push(async () => started.signal('SIGKILL'));
        return started;
      };
      const first = await start();
      const before = await video();
      const open = await eventually('a delivery that fails', async () => {
        const { client } = made.server;
        const query = `TaskQueue = '${made.taskQueue}/notices' AND WorkflowType = 'deliverNotice' AND ExecutionStatus = 'Running'`;
        for await (const { workflowId } of client.workflow.list({ query })) {
          const { raw } = await client.workflow.getHandle(workflowId).describe();
          if ((raw.pendingActivities?.[0]?.attempt ?? 0) > 2) return workflowId;
        }
        return undefined;
      });
      first.signal('SIGKILL');
      await first.gone;
      const during = [await video()];
      // One minute for each call, and another worker: an outage of an hour in an hour.
      if (DOWN_MINUTES > 0) await start();
      for (let minute = 0; minute < DOWN_MINUTES; minute += 1) {
        await delay(60_000);
        during.push(await video());
      }
      const receiver = await receiving(TAKE, port);
      if (DOWN_MINUTES === 0) await start();
      const missing = () =>
        [before, ...during].filter((id) => receiver.taken('call.ended', of(id)).length === 0);
      await eventually('all notices', async () => missing().length === 0, AGAIN_MINUTES * 60_000).catch(
        () => undefined,
      );
      expect(missing()).toEqual([]);
      expect(open).toContain((await receiver.until('call.ended', of(before))).id);
      for (const id of during) expect(receiver.taken('call.ended', of(id))).toHaveLength(1);
      expect(receiver.all).toHaveLength(1 + during.length);
    },
    (5 + 1.1 * DOWN_MINUTES + AGAIN_MINUTES) * 60_000,
  );

  it('an endpoint that is corrected gets what still waits, and one that is missing for a while all that it has missed', async () => {
    const wrong = await freePort();
    const file = path.join(made.dataDir, 'notify.json');
    const write = async (receiver: Pick<Receiver, 'url'>) => {
      const endpoint = await endpointOf(made, receiver, ['call.unconfirmed']);
      await writeFile(file, JSON.stringify({ version: 1, endpoints: [endpoint] }));
    };
    const at = `http://127.0.0.1:${wrong}/hook?token=t0ken-of-the-hook`;
    await write({ url: at });
    const notices = startNotices({ env: { ...made.env, MEDIA_NOTIFY: file }, config: made.config, ...FAST });
    stopping.push(() => notices.stop());
    await made.sandbox.admin.addFaults([
      { operation: 'create', action: { type: 'lose_reply', accepted: true, how: 'reset' } },
    ]);
    const { media, server } = made;
    const id = server.uniqueId('lost');
    await (await media.startVideo({ request, onUnconfirmed: 'end' }, { id })).result();
    const delivery = await eventually('a delivery', async () => {
      const query = `TaskQueue = '${made.taskQueue}/notices' AND WorkflowType = 'deliverNotice'`;
      for await (const { workflowId } of server.client.workflow.list({ query })) return workflowId;
      return undefined;
    });
    const receiver = await receiving();
    await write(receiver);
    const taken = await receiver.until('call.unconfirmed', of(id));
    expect(delivery).toContain(taken.id);
    // More than a minute of the default pauses.
    await eventually('many attempts without the endpoint', async () => {
      const { raw } = await server.client.workflow.getHandle(delivery).describe();
      return (raw.pendingActivities?.[0]?.attempt ?? 0) > 12;
    });
    const back = await receiving(TAKE, wrong);
    await write(back);
    expect((await back.until('call.unconfirmed', of(id))).id).toBe(taken.id);
    expect(receiver.all).toHaveLength(1);
  });

  it('two workers: every event once, under one id', async () => {
    const receiver = await receiving();
    const { config, env } = made;
    const endpoints = [await endpointOf(made, receiver, ['call.ended'])];
    for (let worker = 0; worker < 2; worker += 1) {
      // Connects as a process of its own does.
      const notices = startNotices({ endpoints, config, env, ...FAST });
      stopping.push(() => notices.stop());
    }
    const ids = await Promise.all(Array.from({ length: 8 }, () => video()));
    for (const id of ids) await receiver.until('call.ended', of(id));
    expect(receiver.taken('call.ended')).toHaveLength(8);
    expect(receiver.all).toHaveLength(8);
  });

  it('a paid call has the same events with notices as without, and none of its activities is one of theirs', async () => {
    const without = await eventsOf(await video());
    const receiver = await receiving();
    await notify([receiver]);
    await receiver.until('call.ended', of(await video()));
    const id = await video();
    expect(await eventsOf(id)).toEqual(without);
    await receiver.until('call.ended', of(id));
    expect(await eventsOf(id)).toEqual(without);
  });

  async function eventsOf(id: string): Promise<readonly unknown[]> {
    const { events } = await made.server.client.workflow.getHandle(id).fetchHistory();
    return (events ?? []).map(({ eventType, activityTaskScheduledEventAttributes: scheduled }) => [
      eventType,
      scheduled?.activityType?.name,
      scheduled?.taskQueue?.name,
    ]);
  }
});
