import { setTimeout as delay } from 'node:timers/promises';
import { type SandboxOptions } from '../../packages/sandbox/src';
import { startTemporalOnPostgres, type TemporalOnPostgres } from '../../scripts/stores/temporal-postgres';
import { type Started, TemporalMediaClient } from '../../src/client';
import { type VideoOutcome } from '../../src/domain';
import { insist } from '../proof/campaign-kills/insist';
import { type CampaignResult, resultsOf, type Row, storedManifest } from '../support/campaign';
import { startMediaStack } from '../support/media-stack';
import { describeDeep, proved } from '../support/proof';
import { connectTestServer } from '../support/temporal';
import { keepWorker } from './temporal-postgres/kept-worker';

const ROWS = Number(process.env['PROOF_ROWS'] ?? 300);
const VIDEOS = 50;
const IN_FLIGHT = Math.ceil(ROWS / 6);

/** What SIGKILL hits, one after the other, while the campaign and the videos are bought. */
const OUTAGES = ['server', 'database', 'both', 'server', 'database', 'both'] as const;
type Target = (typeof OUTAGES)[number];

/** So long that calls end meanwhile and nobody can be told. */
const DOWN_MS = 6_000;
const LIMIT_MS = 15 * 60_000;

/** Of the rows, between two outages: there is work before, in and after each. */
const SHARE = 1 / (OUTAGES.length + 1);

/**
 * A campaign and single videos while their Temporal server, its PostgreSQL, or both are killed and started again.
 * Nothing is bought twice, no task is forgotten, and everything comes to its end without a person.
 */
describeDeep('a Temporal server on PostgreSQL that is killed with its database', () => {
  const counts: Record<string, number> = {};
  const toStop: { stop(): Promise<void> }[] = [];
  const started = async <T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T> => {
    const one = await starting;
    toStop.unshift(one);
    return one;
  };
  afterEach(async () => {
    for (const one of toStop.splice(0)) await one.stop();
  }, 60_000);

  it(
    `[C4.4a] [C4.4c] completes ${ROWS} rows and ${VIDEOS} videos, and buys each once (PROOF_SIZE=deep npx jest test/store-servers/temporal-postgres.test.ts)`,
    async () => {
      const say = sayer();
      const server = await started(startTemporalOnPostgres({ say }));
      const stack = await started(startMediaStack({ temporal: server, sandbox: SANDBOX }));
      const worker = await started(keepWorker(stack.env));
      // A journal that outlives this run knows the ids of others.
      const prefix = stack.server.uniqueId('killed');
      const { admin } = stack.sandbox;
      const creates = async () => (await admin.counters({ prompts: false })).operations.create;

      const rows = campaignRows(ROWS);
      const manifest = await storedManifest(stack, rows);
      const campaign = await stack.media.campaigns.start(
        { manifest, concurrency: IN_FLIGHT },
        { id: `${prefix}-campaign` },
      );
      const ordered: Promise<VideoOutcome>[] = [];
      const orderMore = (count: number): void => {
        const from = ordered.length;
        for (let n = from; n < Math.min(VIDEOS, from + count); n += 1)
          ordered.push(video(stack.media, prefix, n));
      };
      const perOutage = Math.floor(VIDEOS / (OUTAGES.length + 1));
      orderMore(VIDEOS - perOutage * OUTAGES.length);

      const acceptedMeanwhile: number[] = [];
      for (const [n, target] of OUTAGES.entries()) {
        const before = await untilUnderWay(creates, SHARE * (n + 1) * ROWS);
        await kill(server, target);
        orderMore(perOutage);
        // The outage itself.
        await delay(DOWN_MS);
        const meanwhile = (await creates()).accepted - before;
        acceptedMeanwhile.push(meanwhile);
        await startAgain(server, target);
        say(`${target} killed and started again, ${before} bought before, ${meanwhile} meanwhile`);
      }

      const outcomes = await Promise.all(ordered);
      const result = await insist<CampaignResult>(() => campaign.result());
      const lines = [...(await resultsOf(stack, result.results)).values()];
      const known = [
        ...lines.flatMap(({ ledger }) => ledger.map(({ taskId }) => taskId)),
        ...outcomes.map((outcome) => ('video' in outcome ? outcome.video?.taskId : undefined)),
      ];
      const { acceptedByPromptHash, ...service } = await admin.counters();
      const lost = (await admin.tasks()).filter(({ id }) => !known.includes(id));
      const killed = (target: Target): number => OUTAGES.filter((one) => one === target).length;
      say(`counts ${JSON.stringify(result.counts)}`);
      Object.assign(counts, {
        'kills of the server': killed('server'),
        'kills of the database': killed('database'),
        'kills of both': killed('both'),
        rows: rows.length,
        videos: outcomes.length,
        'rows completed': lines.filter(({ outcome }) => outcome === 'completed').length,
        'videos completed': outcomes.filter(({ outcome }) => outcome === 'completed').length,
        'creates accepted': service.creates.accepted,
        'accepted while the server or its database was down': acceptedMeanwhile.reduce(
          (sum, one) => sum + one,
          0,
        ),
        'accepted beyond one': Object.values(acceptedByPromptHash).reduce((sum, one) => sum + one - 1, 0),
        'task ids lost': lost.length,
        'rows and videos that did not complete': rows.length + outcomes.length - completed(lines, outcomes),
        'workers that ended by themselves': worker.ends(),
      });
      expect(counts).toMatchObject({
        'rows completed': ROWS,
        'videos completed': VIDEOS,
        'creates accepted': ROWS + VIDEOS,
        'accepted beyond one': 0,
        'task ids lost': 0,
      });
      expect(new Set(known).size).toBe(ROWS + VIDEOS);
      // Each kill found creates under way.
      expect(acceptedMeanwhile).not.toContain(0);
    },
    LIMIT_MS,
  );

  it(
    '[C4.4a] a database that is lost while videos are in flight: the same ids on a new server find what was bought',
    async () => {
      const say = sayer();
      const [ROWS_LOST, VIDEOS_LOST] = [20, 5];
      const server = await startTemporalOnPostgres({ say });
      const stack = await started(startMediaStack({ temporal: server, sandbox: SLOW_SANDBOX }));
      const worker = await keepWorker(stack.env);
      const prefix = stack.server.uniqueId('lost');
      const rows = campaignRows(ROWS_LOST);
      const manifest = await storedManifest(stack, rows);
      const campaignOn = ({ campaigns }: TemporalMediaClient) =>
        campaigns.start({ manifest, concurrency: ROWS_LOST }, { id: `${prefix}-campaign` });
      const each = <T>(take: (n: number) => Promise<T>): Promise<T[]> =>
        Promise.all(Array.from({ length: VIDEOS_LOST }, (_, n) => take(n)));

      await Promise.all([campaignOn(stack.media), each((n) => order(stack.media, prefix, n))]);
      const { admin } = stack.sandbox;
      const bought = async () => (await admin.counters()).creates.accepted;
      while ((await bought()) < ROWS_LOST + VIDEOS_LOST) await delay(100);
      await worker.stop();
      await server.stop();

      const successor = await started(startTemporalOnPostgres({ say }));
      const connected = await connectTestServer(successor);
      toStop.unshift({ stop: () => connected.close() });
      await started(keepWorker({ ...stack.env, TEMPORAL_ADDRESS: successor.address }));
      const media = new TemporalMediaClient(connected.client, { taskQueue: stack.taskQueue });
      const [campaign, outcomes] = await Promise.all([
        campaignOn(media).then((one) => one.result()),
        each((n) => video(media, prefix, n)),
      ]);
      expect(campaign.counts).toEqual({ completed: ROWS_LOST });
      expect(outcomes.map(({ outcome }) => outcome)).toEqual(outcomes.map(() => 'completed'));
      const again = (await bought()) - ROWS_LOST - VIDEOS_LOST;
      Object.assign(counts, {
        'in flight when the database was lost': ROWS_LOST + VIDEOS_LOST,
        'bought again after it was lost': again,
      });
      expect(again).toBe(0);
    },
    LIMIT_MS,
  );

  afterAll(() => proved('temporal-postgres', counts));
});

/** Creates take so long that a kill finds some of them under way. */
const SANDBOX: SandboxOptions = {
  timing: { queuedMs: 0, runningMs: 2_000 },
  videos: 'shared',
  faults: [{ operation: 'create', times: 0, action: { type: 'delay', ms: 1_500 } }],
};

/** So long that they are still in flight when the last of them is bought. */
const SLOW_SANDBOX: SandboxOptions = { timing: { queuedMs: 0, runningMs: 15_000 }, videos: 'shared' };

const REQUEST = { model: 'motion-omni', durationSeconds: 3, resolution: '480p' } as const;

function campaignRows(count: number): Row[] {
  return Array.from({ length: count }, (_, n) => ({
    id: `row-${n}`,
    model: REQUEST.model,
    prompt: `a kite over the sea, row ${n}`,
    duration: REQUEST.durationSeconds,
    resolution: REQUEST.resolution,
  }));
}

/** As a caller does whose server is away now and then: under the same id until it is taken. */
function order(media: TemporalMediaClient, prefix: string, n: number): Promise<Started<VideoOutcome>> {
  const request = { ...REQUEST, prompt: `a boat in the fog, no. ${n}` };
  return insist(() => media.startVideo({ request }, { id: `${prefix}-video-${n}` }));
}

async function video(media: TemporalMediaClient, prefix: string, n: number): Promise<VideoOutcome> {
  const started = await order(media, prefix, n);
  return insist(() => started.result());
}

function sayer(): (line: string) => void {
  const from = Date.now();
  return (line) => void process.stdout.write(`${Math.round((Date.now() - from) / 1_000)} s: ${line}\n`);
}

function completed(
  lines: readonly { readonly outcome: string }[],
  outcomes: readonly { readonly outcome: string }[],
): number {
  return [...lines, ...outcomes].filter(({ outcome }) => outcome === 'completed').length;
}

/** Until so many creates have reached the service and some have no answer yet. @returns how many were accepted by then */
async function untilUnderWay(
  creates: () => Promise<{ readonly received: number; readonly accepted: number }>,
  count: number,
): Promise<number> {
  for (;;) {
    const { received, accepted } = await creates();
    if (received >= count && received > accepted) return accepted;
    await delay(100);
  }
}

async function kill(server: TemporalOnPostgres, target: Target): Promise<void> {
  if (target !== 'database') await server.killServer();
  if (target !== 'server') await server.killDatabase();
}

async function startAgain(server: TemporalOnPostgres, target: Target): Promise<void> {
  if (target !== 'server') await server.startDatabase();
  if (target !== 'database') await server.startServer();
}
