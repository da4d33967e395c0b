import { type VideoOutcome } from '../../src/domain';
import { ACTIVITY } from '../../src/domain/names';
import { storedManifest } from '../support/campaign';
import { eventually } from '../support/eventually';
import { type MediaStack, type RunningWorker, startMediaStack } from '../support/media-stack';
import { describeDeep, proved } from '../support/proof';
import { setCurrentVersion } from '../support/worker-versions';

const VIDEOS = Number(process.env['PROOF_VIDEOS'] ?? 200);
const ROWS = VIDEOS;

/**
 * A new version of the workers, and the way back, with paid work in flight (operations: New versions). Both versions run
 * this code: what is proved is where workflows go, and that nothing is lost or bought twice on the way.
 */
describeDeep('a worker deployment with versions', () => {
  let stack: MediaStack;
  const deployment = `media-${Math.random().toString(36).slice(2, 8)}`;
  beforeAll(async () => {
    stack = await startMediaStack({
      sandbox: { timing: { queuedMs: 0, runningMs: 6_000 }, videos: 'shared' },
    });
  });
  afterAll(() => stack.stop());

  const startVersion = (buildId: string): Promise<RunningWorker> =>
    stack.startWorker({
      // From own polling to shared polling, and back.
      env: {
        MEDIA_DEPLOYMENT: `${deployment}:${buildId}`,
        MEDIA_POLLING: buildId === '2' ? 'shared' : 'own',
      },
      ownConnection: true,
    });

  const makeCurrent = (buildId: string): Promise<void> => setCurrentVersion(stack, deployment, buildId);

  const order = (name: string) =>
    Promise.all(
      Array.from({ length: VIDEOS }, (_, n) =>
        stack.media.startVideo(
          { request: { model: 'cine-1', prompt: `${name} ${n}`, durationSeconds: 2 } },
          { id: `${deployment}-${name}-${n}` },
        ),
      ),
    );

  /** Build ids on which the last workflow tasks of these workflows ran. */
  async function versionsOf(ids: readonly string[]): Promise<ReadonlySet<string | undefined>> {
    const found = await Promise.all(
      ids.map(async (id) => {
        const { raw } = await stack.server.client.workflow.getHandle(id).describe();
        return raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId ?? undefined;
      }),
    );
    return new Set(found);
  }

  it('upgrade and roll-back: videos end where they began, a campaign goes on, nothing is bought twice', async () => {
    const outcomes: VideoOutcome['outcome'][] = [];
    const collect = async (started: Awaited<ReturnType<typeof order>>) => {
      for (const one of started) outcomes.push((await one.result()).outcome);
    };
    const idsOf = (started: Awaited<ReturnType<typeof order>>) => started.map(({ workflowId }) => workflowId);

    const first = await startVersion('1');
    await makeCurrent('1');
    const before = await order('before');
    const rows = Array.from({ length: ROWS }, (_, n) => ({
      id: `${n}`,
      model: 'cine-1',
      prompt: `row ${n}`,
      duration: 2,
    }));
    const campaign = await stack.media.campaigns.start(
      { manifest: await storedManifest(stack, rows), concurrency: Math.ceil(ROWS / 3) },
      { id: `${deployment}-campaign` },
    );
    // A query may time out while two hundred videos start.
    await eventually('rows in flight', async () => {
      const state = await stack.media.campaigns.state(campaign.workflowId).catch(() => undefined);
      return (state?.inFlight ?? 0) > 0;
    });

    // The upgrade: the old version drains, and stops once no video is pinned to it any more.
    const second = await startVersion('2');
    await makeCurrent('2');
    const during = await order('during');
    await collect(before);
    expect(await versionsOf(idsOf(before))).toEqual(new Set(['1']));
    // Its batches hand back their rows, and it continues as new: nothing is pinned to the old version any more.
    await eventually('the campaign on the new version', async () =>
      (await versionsOf([campaign.workflowId])).has('2'),
    );
    await first.stop();

    // The way back, while videos of the new version are in flight.
    const again = await startVersion('1');
    await makeCurrent('1');
    const after = await order('after');
    await collect(during);
    expect(await versionsOf(idsOf(during))).toEqual(new Set(['2']));
    const [one] = during;
    const { events } = await stack.server.client.workflow.getHandle(one?.workflowId ?? '').fetchHistory();
    expect(JSON.stringify(events)).toContain(ACTIVITY.watchVideo);
    await eventually('the campaign on the old version, or at its end', async () => {
      const { closeTime } = await stack.server.client.workflow.getHandle(campaign.workflowId).describe();
      return closeTime !== undefined || (await versionsOf([campaign.workflowId])).has('1');
    });
    await second.stop();
    await collect(after);
    expect(await versionsOf(idsOf(after))).toEqual(new Set(['1']));

    const result = await campaign.result();
    expect(result).toMatchObject({ outcome: 'completed', counts: { completed: ROWS } });
    await again.stop();

    const { creates } = await stack.sandbox.admin.counters();
    const lost = outcomes.filter((outcome) => outcome !== 'completed').length;
    proved('rolling-upgrade', {
      videos: outcomes.length,
      rows: ROWS,
      'version changes': 2,
      'creates beyond one': creates.accepted - outcomes.length - ROWS,
      'videos lost': lost,
    });
    expect([creates.accepted, lost]).toEqual([3 * VIDEOS + ROWS, 0]);
  }, 900_000);
});
