import { join } from 'node:path';
import { context, trace } from '@opentelemetry/api';
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { createSandbox, type Sandbox, SandboxAdmin } from '../../packages/sandbox/src';
import { pollInThread, type PollThread } from '../../src/activities/poll-in-thread';
import { createPollVideos } from '../../src/activities/poll-videos';
import { pollInSpan } from '../../src/activities/spans';
import { type PollAnswer, type PollVideosInput, type PollVideosResult } from '../../src/domain/poll-answers';
import { createMediaClient } from '../../src/service/create-media-client';
import { accountRegistry } from '../../src/settings/accounts';

const ENTRY = join(__dirname, '../../lib/activities/poll-thread.js');
const ACCOUNT = 'default@00000000';
const KEY = 'sandbox-key';

function tickOf(ids: readonly string[], account = ACCOUNT): PollVideosInput {
  const byModel = [{ model: 'cine-1', ids, seen: ids.map(() => '') }];
  return { account, byModel, budgetMs: 30_000, minIntervalMs: 0 };
}

describe('polls in a thread of their own', () => {
  let sandbox: Sandbox;
  let admin: SandboxAdmin;
  let thread: PollThread;
  let key: () => string;

  beforeAll(async () => {
    sandbox = await createSandbox({ timing: { queuedMs: 0, runningMs: 600_000 } });
    admin = new SandboxAdmin(sandbox.adminUrl);
  });
  afterAll(() => sandbox.close());

  const data = { connections: 4 };
  const access = (account: string) =>
    account === ACCOUNT ? { name: ACCOUNT, baseUrl: sandbox.url, key: key(), secrets: [] } : undefined;

  beforeEach(() => {
    key = () => KEY;
    const started = pollInThread(data, access, ENTRY);
    if (started === undefined) throw new Error('lib is not built');
    thread = started;
  });
  afterEach(() => thread.close());

  async function newTask(): Promise<string> {
    const reply = await fetch(`${sandbox.url}/v1/videos`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'cine-1', prompt: 'a kite [run:3600s]', seconds: 2 }),
    });
    expect(reply.status).toBe(200);
    return ((await reply.json()) as { id: string }).id;
  }

  async function pollsSeen(): Promise<number> {
    return (await admin.counters()).operations.poll.received;
  }

  it('answer as polls in this thread do, many ticks at a time', async () => {
    const ids = await Promise.all([newTask(), newTask(), newTask()]);
    const client = createMediaClient({ baseUrl: sandbox.url, apiKey: key });
    const accounts = accountRegistry([{ name: ACCOUNT, client, hasKey: () => Promise.resolve(true) }]);
    const here = createPollVideos({ accounts });
    // The second tick of a thread takes the answers of GETs that the first one has started.
    const timeless = ({ answers }: PollVideosResult): PollVideosResult => ({
      answers: answers.map(({ askedMsAgo: _ago, ...answer }) => answer as PollAnswer),
    });
    for (const input of [tickOf(ids), tickOf(['task_unknown']), tickOf(ids, 'other@11111111')]) {
      const [expected, one, two] = await Promise.all([
        here(input),
        thread.pollVideos(input),
        thread.pollVideos(input),
      ]);
      expect(expected.answers).toHaveLength(input.byModel[0]?.ids.length ?? 0);
      expect([one, timeless(two)]).toEqual([expected, expected]);
    }
    await client.close();
  });

  it('[C5.2] use the key of the moment, and send nothing without one', async () => {
    const tick = tickOf([await newTask()]);
    const before = await pollsSeen();
    key = () => '';
    expect(await thread.pollVideos(tick)).toEqual({ answers: [{ index: 0, error: 'credentials' }] });
    expect(await pollsSeen()).toBe(before);
    key = () => KEY;
    expect((await thread.pollVideos(tick)).answers).toMatchObject([
      { index: 0, record: { phase: 'in_progress' } },
    ]);
    key = () => 'another-key';
    expect((await thread.pollVideos(tick)).answers).toMatchObject([
      { index: 0, error: 'credentials', httpStatus: 401 },
    ]);
  });

  it('are one span of the thread of the worker for each tick, below that of the activity', async () => {
    const exporter = new InMemorySpanExporter();
    new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
    const tick = tickOf([await newTask(), 'task_unknown']);
    await trace.getTracer('activity').startActiveSpan('RunActivity', async (span) => {
      await pollInSpan(ACCOUNT, tick, () => thread.pollVideos(tick));
      span.end();
    });
    trace.disable();
    context.disable();
    const [poll, activity] = exporter.getFinishedSpans();
    expect(poll).toMatchObject({ name: 'media.poll', parentSpanId: activity?.spanContext().spanId });
    expect(poll?.attributes).toEqual({
      'media.account': ACCOUNT,
      'media.tasks': 2,
      'media.answers.record': 1,
      'media.answers.not_found': 1,
    });
  });

  it('fail with their thread, and the next ones have a new one', async () => {
    const dying = pollInThread(data, access, join(__dirname, 'support', 'dying-thread.js'));
    const tick = tickOf(['task_1']);
    const both = await Promise.allSettled([dying?.pollVideos(tick), dying?.pollVideos(tick)]);
    const failed = { status: 'rejected', reason: new Error('The polling thread exited.') };
    expect(both).toEqual([failed, failed]);
    await expect(dying?.pollVideos(tick)).rejects.toThrow('The polling thread exited.');
    await dying?.close();
  });

  it('end with their worker', async () => {
    await admin.addFaults([{ operation: 'poll', action: { type: 'delay', ms: 60_000 } }]);
    const open = thread.pollVideos(tickOf([await newTask()]));
    const failed = expect(open).rejects.toThrow('The worker has stopped.');
    await thread.close();
    await failed;
    await expect(thread.pollVideos(tickOf(['task_1']))).rejects.toThrow('no longer polls');
    await admin.clearFaults();
  });

  it('stay in the thread of the worker where their code is no file of its own', () => {
    expect(pollInThread(data, access, join(__dirname, 'no-such-file.js'))).toBeUndefined();
  });
});
