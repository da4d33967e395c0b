import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ScheduleHandle, ScheduleOverlapPolicy, WorkflowFailedError } from '@temporalio/client';
import { campaignWorker } from '../../examples/campaign-worker';
import { type FilmedNight, type NightlyFilms, type nightlyFilms } from '../../examples/campaigns';
import { filmEveryNight } from '../../examples/schedule';
import { type ArtifactRef, type CampaignResult } from '../../src/domain';
import { type Row, storedManifest } from '../support/campaign';
import { eventually } from '../support/eventually';
import { type MediaStack, startMediaStack } from '../support/media-stack';

const ROOT = join(__dirname, '..', '..');
/** Micro-units of one of these films. */
const PRICE = 100_000;

const films = (count: number, name: string, directives = ''): Row[] =>
  Array.from({ length: count }, (_unused, n) => ({
    id: `${n}`,
    model: 'cine-1',
    prompt: `${directives} ${name} ${n}`,
    duration: 2,
  }));

describe('campaigns from code', () => {
  let stack: MediaStack;
  let stopCallers: () => Promise<void>;
  let callers: string;

  beforeAll(async () => {
    stack = await startMediaStack({ sandbox: { timing: { queuedMs: 0, runningMs: 300 } } });
    await stack.startWorker();
    callers = stack.server.uniqueId('callers');
    const worker = await campaignWorker({
      connection: stack.server.nativeConnection,
      client: stack.server.client,
      taskQueue: callers,
      mediaQueue: stack.taskQueue,
      artifacts: stack.config.artifacts,
    });
    const running = worker.run();
    stopCallers = async () => {
      worker.shutdown();
      await running;
    };
  });
  afterAll(async () => {
    await stopCallers();
    await stack.stop();
  });

  const stored = async (rows: readonly Row[]): Promise<ArtifactRef> => {
    const { source } = await storedManifest(stack, rows);
    return (source as { artifact: ArtifactRef }).artifact;
  };
  const accepted = async () => (await stack.sandbox.admin.counters()).creates.accepted;
  const night = (manifest: ArtifactRef, more: Partial<NightlyFilms> = {}): NightlyFilms => ({
    night: stack.server.uniqueId('night'),
    manifest,
    budget: { microUnits: 10 * PRICE, currency: 'USD' },
    mediaQueue: stack.taskQueue,
    ...more,
  });
  const start = (input: NightlyFilms) =>
    stack.server.client.workflow.start<typeof nightlyFilms>('nightlyFilms', {
      taskQueue: callers,
      workflowId: stack.server.uniqueId('films'),
      args: [input],
    });
  const filmed = async (input: NightlyFilms): Promise<FilmedNight> => (await start(input)).result();

  it('a workflow on a worker of its own buys a manifest and hands its rows on; the same night again buys what is new', async () => {
    const before = await accepted();
    const input = night(await stored(films(3, 'one night')));
    const first = await filmed(input);
    expect(first).toMatchObject({ outcome: 'completed', missing: 0, left: 7 * PRICE });
    expect([...first.published].sort()).toEqual(
      ['0', '1', '2'].map((key) => expect.stringMatching(`^${key} artifact:sha256/[0-9a-f]{64}$`) as string),
    );
    expect(await accepted()).toBe(before + 3);

    const more = await filmed({ ...input, manifest: await stored(films(5, 'one night')) });
    expect(more).toMatchObject({ outcome: 'completed', missing: 0, left: 5 * PRICE });
    expect(more.published).toEqual(expect.arrayContaining([...first.published]));
    expect(await accepted()).toBe(before + 5);
    // Rows that the manifest no longer has stay on the books, and so does what they cost.
    const less = await filmed({ ...input, manifest: await stored(films(1, 'one night')) });
    expect(less).toMatchObject({ published: more.published, missing: 0, left: 5 * PRICE });
    expect(await accepted()).toBe(before + 5);
  });

  it('a budget is typed and kept; a manifest that cannot be used fails the workflow in words, and nothing is sent', async () => {
    const before = await accepted();
    const short = await filmed(
      night(await stored(films(3, 'short')), { budget: { microUnits: 2 * PRICE, currency: 'USD' } }),
    );
    expect(short).toMatchObject({ outcome: 'completed', missing: 1, left: 0 });
    expect(await accepted()).toBe(before + 2);

    const refused = filmed(night(await stored([{ model: 'cine-1', prompt: 'too long', duration: 3_000 }])));
    await expect(refused).rejects.toMatchObject({
      name: WorkflowFailedError.name,
      cause: { type: 'CampaignRefused', message: expect.stringContaining('invalid') as string },
    });
    expect(await accepted()).toBe(before + 2);
  });

  it('a caller that is terminated leaves its campaign to go on; the next one waits for it and resumes its films', async () => {
    const before = await accepted();
    const input = night(await stored(films(2, 'left alone', '[run:8s]')));
    const first = await start(input);
    await eventually('both are bought', async () => (await accepted()) === before + 2);
    await first.terminate('by a test');
    const second = await filmed(input);
    expect(second).toMatchObject({ outcome: 'completed', missing: 0, left: 8 * PRICE });
    expect(second.published).toHaveLength(2);
    expect(await accepted()).toBe(before + 2);
  });

  it('a caller that is cancelled cancels its campaign: nothing more is bought, and the answer says so', async () => {
    const before = await accepted();
    const input = night(await stored(films(2, 'cancelled', '[run:8s]')));
    const caller = await start(input);
    await eventually('both are bought', async () => (await accepted()) === before + 2);
    await caller.cancel();
    await caller.result().catch(() => undefined);
    const campaign = stack.server.client.workflow.getHandle(`nightly/${input.night}`);
    const result = (await campaign.result()) as CampaignResult;
    expect([result.outcome, result.counts]).toEqual(['cancelled', { completed: 2 }]);
    expect(await accepted()).toBe(before + 2);
  });

  it('a Schedule buys the manifest of each night under an id of its own, and none while the last one runs', async () => {
    const before = await accepted();
    const { client } = stack.server;
    const id = stack.server.uniqueId('nightly-films');
    const manifest = await stored(films(2, 'every night', '[run:4s]'));
    const schedule = await filmEveryNight(client, manifest, { id, taskQueue: stack.taskQueue });
    try {
      expect((await schedule.describe()).policies.overlap).toBe('SKIP');
      // By hand an overlap is allowed, unless it is forbidden again.
      await schedule.trigger(ScheduleOverlapPolicy.SKIP);
      const first = await eventually('the first night', async () => (await started(schedule))[0]);
      expect(first).toMatch(new RegExp(`^${id}-\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$`));
      await schedule.trigger(ScheduleOverlapPolicy.SKIP);
      await eventually('the second night is skipped', async () => {
        const { info } = await schedule.describe();
        return info.numActionsSkippedOverlap === 1;
      });
      const result = await stack.media.campaigns.result(first);
      expect([result.counts, result.money.estimated]).toEqual([{ completed: 2 }, 2 * PRICE]);
      expect(await accepted()).toBe(before + 2);

      await schedule.trigger(ScheduleOverlapPolicy.SKIP);
      const second = await eventually('another night', async () =>
        (await started(schedule)).find((one) => one !== first),
      );
      expect((await stack.media.campaigns.result(second)).counts).toEqual({ completed: 2 });
      expect(await accepted()).toBe(before + 4);
    } finally {
      await schedule.delete();
    }
  });

  it('a Schedule of a workflow whose campaign has a fixed id buys nothing twice', async () => {
    const before = await accepted();
    const { client } = stack.server;
    const input = night(await stored(films(2, 'fixed')));
    const id = stack.server.uniqueId('fixed');
    const schedule = await client.schedule.create({
      scheduleId: id,
      spec: {},
      action: {
        type: 'startWorkflow',
        workflowType: 'nightlyFilms',
        workflowId: id,
        taskQueue: callers,
        args: [input],
      },
    });
    try {
      const seen: string[] = [];
      for (let turn = 0; turn < 2; turn += 1) {
        await schedule.trigger();
        const next = await eventually('a start', async () =>
          (await started(schedule)).find((one) => !seen.includes(one)),
        );
        seen.push(next);
        const result = (await client.workflow.getHandle(next).result()) as FilmedNight;
        expect(result).toMatchObject({ outcome: 'completed', missing: 0, left: 8 * PRICE });
        expect(await accepted()).toBe(before + 2);
      }
    } finally {
      await schedule.delete();
    }
  });

  it('docs/campaigns-from-code.md shows examples/schedule.ts as it is, and names the others', async () => {
    const page = await readFile(join(ROOT, 'docs', 'campaigns-from-code.md'), 'utf8');
    const example = await readFile(join(ROOT, 'examples', 'schedule.ts'), 'utf8');
    expect(page).toContain('```ts\n' + example + '```');
    for (const name of ['campaigns', 'campaign-activities', 'campaign-worker'])
      expect(page).toContain(`](../examples/${name}.ts)`);
  });
});

/** Ids of what a schedule has started. */
async function started(schedule: ScheduleHandle): Promise<string[]> {
  const { info } = await schedule.describe();
  return info.recentActions.flatMap(({ action }) =>
    action.type === 'startWorkflow' ? [action.workflow.workflowId] : [],
  );
}
