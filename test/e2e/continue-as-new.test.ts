import { type FaultAction, type FaultRule, type SandboxRequest } from '../../packages/sandbox/src';
import { startTemporalServer, type RunningTemporalServer } from '../../packages/testing/src/temporal-server';
import { type VideoOutcome } from '../../src/domain';
import { type WatchState } from '../../src/domain/watch-state';
import { type CarriedVideo, type GenerateVideoInput } from '../../src/domain/workflow-inputs';
import { accepted, received } from '../support/accepted';
import { runChain, type ChainedRun } from '../support/run-chain';
import { sharedStack } from '../support/shared-stack';

/** The server's own hint, so that it comes every other tick: the product has no switch for tests. */
const HINT_AT_EVENTS = 18;
/**
 * Lower end of the polling band (contract 8), less what two polls may differ by on their way on a machine that does
 * much else. A run that forgot when it polled last would send its first poll at once.
 */
const MIN_GAP_MS = 3_000 - 1_000;
const LIMIT_MS = 110_000;

interface Watched {
  readonly outcome: VideoOutcome;
  readonly runs: readonly ChainedRun<GenerateVideoInput>[];
  readonly polls: readonly SandboxRequest[];
}

describe('a video that continues as new every few events', () => {
  let own: RunningTemporalServer | undefined;
  const stack = sharedStack(async () => {
    own = await startTemporalServer({
      env: { ...process.env, TEMPORAL_ADDRESS: undefined, TEMPORAL_PROFILE: undefined },
      dynamicConfig: { 'limit.historyCount.suggestContinueAsNew': String(HINT_AT_EVENTS) },
    });
    return { temporal: own };
  });
  afterAll(() => own?.stop());

  async function run(
    request: GenerateVideoInput['request'],
    input: Partial<GenerateVideoInput> = {},
  ): Promise<Watched> {
    const { media, server, sandbox } = await stack();
    const started = await media.startVideo({ ...input, request });
    const outcome = await started.result();
    const runs = await runChain<GenerateVideoInput>(server.client, started.workflowId, started.runId);
    const taskId = 'video' in outcome ? outcome.video?.taskId : undefined;
    const polls = (await sandbox.admin.requests({ operation: 'poll' })).filter(
      (poll) => poll.taskId === taskId,
    );
    return { outcome, runs, polls };
  }

  async function fault(rule: FaultRule): Promise<void> {
    await (await stack()).sandbox.admin.addFaults([rule]);
  }

  const refused = (status: number, retryAfter?: string): FaultAction => ({
    type: 'status',
    status,
    ...(retryAfter === undefined ? {} : { headers: { 'retry-after': retryAfter } }),
  });

  const gaps = (polls: readonly SandboxRequest[]): number[] =>
    polls.slice(1).map((poll, index) => poll.at - (polls[index]?.at ?? 0));

  /** The watch that each later run began with. */
  function carriedWatches({ runs }: Watched): WatchState[] {
    return runs.flatMap(({ input }) => {
      const carried: CarriedVideo | undefined = input.carried;
      return carried?.phase === 'watching' ? [carried.state] : [];
    });
  }

  function expectManyRuns({ runs }: Watched): void {
    expect(runs.length).toBeGreaterThan(2);
    const keys = runs
      .slice(1)
      .map(({ input: { carried } }) =>
        carried?.phase === 'watching' ? carried.creationKey : carried?.create.creationKey,
      );
    expect(new Set(keys)).toEqual(new Set([runs[0]?.input.creationKey]));
  }

  it.concurrent(
    '[C7.2] [C4.4a] inside the grace of a task that is not known: counted across runs, and never created again',
    async () => {
      const prompt = 'a task that nobody knows';
      await fault({ operation: 'poll', promptIncludes: prompt, times: 0, action: refused(400) });
      // Its deadline is within the grace, whose end is the matter of test/domain/poll-watch.test.ts.
      const watched = await run({ model: 'sketch-lite', prompt, durationSeconds: 2 }, { waitFor: '16s' });
      expectManyRuns(watched);
      expect(watched.outcome).toMatchObject({ outcome: 'still_running' });
      const watches = carriedWatches(watched);
      const [since, ...others] = new Set(watches.map((watch) => watch.unknownSince));
      expect([since, others]).toEqual([expect.any(Number), []]);
      expect(watches.map((watch) => watch.unknownCount)).toEqual(watches.map((watch) => watch.polls));
      expect(Math.min(...gaps(watched.polls))).toBeGreaterThanOrEqual(MIN_GAP_MS);
      expect(await received(await stack(), prompt)).toBe(1);
    },
    LIMIT_MS,
  );

  it.concurrent(
    '[C8.2] [C4.4a] while it plainly watches: one create, and the distance of polls holds from run to run',
    async () => {
      const prompt = '[run:14s] many short runs';
      const watched = await run({ model: 'cine-1', prompt, durationSeconds: 2 });
      expectManyRuns(watched);
      // The last look at the record is the download's.
      const ofTheLoop = watched.polls.slice(0, -1);
      expect(watched.outcome).toMatchObject({ outcome: 'completed', watch: { polls: ofTheLoop.length } });
      expect(Math.min(...gaps(ofTheLoop))).toBeGreaterThanOrEqual(MIN_GAP_MS);
      expect(await received(await stack(), prompt)).toBe(1);
    },
    LIMIT_MS,
  );

  it.concurrent(
    '[C7.4] [C8.7] inside a Retry-After: the next run waits for its end',
    async () => {
      const prompt = '[run:4s] a crowded service';
      const action = refused(429, '7');
      await fault({ operation: 'poll', promptIncludes: prompt, skip: 1, times: 2, action });
      const watched = await run({ model: 'open-canvas', prompt });
      expectManyRuns(watched);
      expect(watched.outcome).toMatchObject({ outcome: 'completed' });
      const limited = watched.polls.filter((poll) => poll.status === 429);
      expect(limited).toHaveLength(2);
      for (const poll of limited) {
        const next = watched.polls[watched.polls.indexOf(poll) + 1];
        expect((next?.at ?? 0) - poll.at).toBeGreaterThanOrEqual(6_950);
      }
      const insideOne = watched.runs.filter(({ startedAt }) =>
        limited.some(({ at }) => startedAt > at && startedAt < at + 7_000),
      );
      expect(insideOne.length).toBeGreaterThan(0);
      expect(await received(await stack(), prompt)).toBe(1);
    },
    LIMIT_MS,
  );

  it.concurrent(
    '[C3.4] inside the deadline: it is not moved, and the facts of the wait are counted across runs',
    async () => {
      const prompt = '[queue:0s] [run:300s] longer than the wait';
      const watched = await run({ model: 'motion-omni', prompt, durationSeconds: 3 }, { waitFor: '16s' });
      expectManyRuns(watched);
      const { outcome, runs, polls } = watched;
      if (outcome.outcome !== 'still_running') throw new Error(outcome.outcome);
      expect(outcome).toMatchObject({ lastStatus: 'in_progress', polls: polls.length });
      const deadlines = new Set(carriedWatches(watched).map((watch) => watch.deadlineAt));
      expect(deadlines.size).toBe(1);
      expect(Date.parse(outcome.lastPollAt ?? '')).toBeGreaterThanOrEqual([...deadlines][0] ?? Infinity);
      // Nothing has changed since the first poll, many runs ago.
      expect(Date.parse(outcome.lastChangeAt ?? '')).toBeLessThan(runs.at(-1)?.startedAt ?? 0);
      expect(Math.min(...gaps(polls))).toBeGreaterThanOrEqual(MIN_GAP_MS);
      expect(await accepted(await stack(), prompt)).toBe(1);
    },
    LIMIT_MS,
  );

  it.concurrent(
    '[C7.5] [C4.4a] between two sends of a create: key and count are carried, and one is accepted',
    async () => {
      const prompt = '[run:2s] refused three times';
      const action = refused(503, '2');
      await fault({ operation: 'create', promptIncludes: prompt, times: 3, action });
      const watched = await run({ model: 'cine-1', prompt, durationSeconds: 4 });
      expect(watched.outcome).toMatchObject({ outcome: 'completed' });
      const creating = watched.runs.flatMap(({ input: { carried } }) =>
        carried?.phase === 'creating' ? [carried.create] : [],
      );
      expect(creating.length).toBeGreaterThan(0);
      for (const state of creating) {
        expect(state).toMatchObject({ creationKey: watched.runs[0]?.input.creationKey, tries: state.sends });
        expect(state.sends).toBeGreaterThan(0);
      }
      expect(await received(await stack(), prompt)).toBe(4);
      expect(await accepted(await stack(), prompt)).toBe(1);
    },
    LIMIT_MS,
  );
});
