import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type Timeline } from '../../packages/replay/src/timeline/timeline';
import { CampaignRuns, film } from '../cli/support/campaign-runs';
import { type CliBench, openCliBench } from '../cli/support/cli-bench';
import { runCli, runJson } from '../cli/support/run-cli';
import { eventually } from '../support/eventually';
import { resetWorkflow } from '../support/reset-workflow';
import { incident } from './incident';

/** What the command tells about workflows of a server. */
describe('replay tells what happened', () => {
  let bench: CliBench;
  const timelineOf = async (...args: string[]): Promise<Timeline> => {
    const { code, reply } = await runJson(['replay', ...args], bench.clientEnv);
    expect(code).toBe(0);
    const [target] = reply.data?.['targets'] as readonly { readonly timeline: Timeline }[];
    return target?.timeline as Timeline;
  };

  beforeAll(async () => {
    bench = await openCliBench({ timing: { queuedMs: 0, runningMs: 300 } });
    await bench.startWorker();
  });
  afterAll(() => bench.close());

  test('a lost reply, 503s and an expired file: in this order, with the proof, and paid once', async () => {
    const id = bench.server.uniqueId('incident');
    await incident(bench, id);
    const timeline = await timelineOf(id);
    const kinds = timeline.entries.map(({ kind }) => kind);
    expect(kinds).toEqual(
      expect.arrayContaining(['started', 'create', 'decision', 'poll_errors', 'polls', 'download', 'ended']),
    );
    expect(timeline.entries.find(({ kind }) => kind === 'create')?.facts).toMatchObject({
      outcome: 'unconfirmed',
      evidence: { cause: 'connection_lost_after_send' },
    });
    expect(timeline).toMatchObject({
      outcome: 'content_unavailable',
      sends: 1,
      polls: { errors: { unavailable: 2 } },
      money: { state: 'needs_review' },
    });
    expect((await bench.sandbox.admin.counters()).creates).toMatchObject({ received: 1, accepted: 1 });

    const html = path.join(bench.dir, 'incident.html');
    const { stdout, stderr, code } = await runCli(['replay', id, '--html', html], bench.clientEnv);
    expect(code).toBe(0);
    expect(stdout).toContain('Download: no file (expired, HTTP 404) after 3 attempts');
    expect(stdout.indexOf('Where the time went')).toBeLessThan(stdout.indexOf('identical'));
    expect(`${stdout}${stderr}`).not.toContain('a kite over the sea');
    const page = await readFile(html, 'utf8');
    expect(page).toContain("default-src 'none'");
    expect(page).not.toContain('a kite over the sea');
    const bare = await runCli(['replay', id, '--no-timeline'], bench.clientEnv);
    expect(bare.stdout).not.toContain('Where the time went');
  });

  test('an open video runs to now, and the server says that no worker has its create', async () => {
    const id = bench.server.uniqueId('open');
    const handle = await bench.server.client.workflow.start('generateVideo', {
      taskQueue: bench.clientEnv['MEDIA_TASK_QUEUE'] ?? '',
      workflowId: id,
      args: [
        {
          request: { model: 'sketch-lite', prompt: 'a boat' },
          queues: { create: bench.server.uniqueId('nobody') },
        },
      ],
    });
    await eventually('the create is scheduled', async () => {
      const { raw } = await handle.describe();
      return (raw.pendingActivities ?? []).length === 1;
    });
    const timeline = await timelineOf(id);
    const create = timeline.entries.find(({ kind }) => kind === 'create');
    expect(create).toMatchObject({ text: 'Create: waiting for a worker', until: timeline.readAt });
    expect(Date.parse(timeline.readAt ?? '')).toBeGreaterThanOrEqual(Date.parse(timeline.lastEventAt ?? ''));
    expect(timeline.spent.map(({ on }) => on)).not.toContain('creating');
    await handle.terminate('seen');
    expect((await timelineOf(id)).readAt).toBeNull();
  });

  test('a campaign with its batches and rows', async () => {
    const runs = new CampaignRuns(bench);
    const id = runs.id('told');
    const manifest = await runs.manifest('told', [film('a', 'one'), film('b', 'two [fail:moderation]')]);
    const { code } = await runCli(['campaign', 'run', manifest, '--id', id, '--json'], bench.workerEnv);
    expect(code).toBe(5);
    const timeline = await timelineOf(id, '--children');
    expect(timeline.children.map(({ workflowId }) => workflowId)).toEqual([`${id}/batch/0`]);
    const states = Object.fromEntries(timeline.rows.map(({ key, state }) => [key, state]));
    expect(states).toEqual({ a: 'completed', b: 'failed' });
    expect(timeline.rows.find(({ key }) => key === 'b')?.reason).toMatch(/moderation|content/);
  });

  test('a video that was reset: the new run adopts what was bought', async () => {
    const id = bench.server.uniqueId('reset');
    const { code } = await runCli(
      ['video', '--model', 'sketch-lite', '--prompt', 'a boat', '--id', id, '--out', bench.dir, '--json'],
      bench.clientEnv,
    );
    expect(code).toBe(0);
    await (await resetWorkflow(bench.server, id)).result();
    const timeline = await timelineOf(id);
    const creates = timeline.entries.filter(({ kind }) => kind === 'create');
    expect(creates.map(({ events }) => events[0]?.run)).toEqual([0, 1]);
    expect(creates.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^Create: sent, accepted as task /),
      expect.stringMatching(/^Create: not sent again: the journal already has task /),
    ]);
    expect(timeline).toMatchObject({
      outcome: 'completed',
      sends: 1,
      runs: [{ resetFrom: null }, { resetFrom: { runId: timeline.runs[0]?.runId, eventId: 3 } }],
    });
    expect(timeline.runs[0]?.runId).not.toBe(timeline.runs[1]?.runId);
    const again = await runJson(['replay', id, '--whatif'], bench.clientEnv);
    expect([again.code, again.reply.data]).toMatchObject([
      0,
      { outcome: { local: 'completed' }, notPlayed: ["the workflow's reset"] },
    ]);
  });

  test('refuses what it cannot do', async () => {
    const file = path.resolve(__dirname, '..', 'golden', 'generateVideo.completed.v1.json');
    const twice = await runJson(['replay', file, file, '--html', 'x.html'], bench.clientEnv);
    expect(twice.reply.error).toMatchObject({ type: 'usage' });
    const children = await runJson(['replay', file, '--children'], bench.clientEnv);
    expect(children.reply.error?.message).toContain('--children reads from the server');
  });
});
