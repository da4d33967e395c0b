import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { TemporalMediaClient } from '../../../src/client';
import { type VideoOutcome } from '../../../src/domain';
import { eventually } from '../../support/eventually';
import { type MediaStack } from '../../support/media-stack';
import { dataDirOf, newJournalPlace } from '../../support/store-places';
import { startWorkerProcess } from '../../support/worker-process';
import { hasOpenIntent, readLog } from './create-facts';

/** The workflows of a round start within this, so that at any time some creates are under way. */
const STARTS_WITHIN_MS = 3_000;
/** What an undisturbed worker then has left to do: the last create, polls and downloads. */
const REST_MS = 3_000;
const IN_FLIGHT = 10;

/** One create, with what a kill found of it. */
export interface LaneVideo {
  readonly id: string;
  /** Milliseconds since the Unix epoch; Infinity before. */
  startedAt: number;
  /** Kills while its workflow was open and a worker that died held nothing of it that nobody can know. */
  killsOutside: number;
  /** Whether a killed worker left an intent without an answer: from then on nobody can know. */
  inside: boolean;
  outcome: VideoOutcome | undefined;
}

export interface LaneResult {
  readonly journal: string;
  readonly kills: number;
  readonly videos: readonly LaneVideo[];
}

export interface LaneOptions {
  readonly kills: number;
  /** Milliseconds since the Unix epoch after which no further round begins. */
  readonly untilMs: number;
  /** In [0, 1). */
  readonly random: () => number;
}

/**
 * One create queue with its journal: a worker process with ten workflows in flight is killed at a random time of their
 * run, its successor gets ten more and is killed in turn, and the last one brings everything to an end. What the kills
 * before left over is in flight besides.
 */
export async function killLane(
  stack: MediaStack,
  { kills, untilMs, random }: LaneOptions,
): Promise<LaneResult> {
  const taskQueue = stack.server.uniqueId('lane');
  const env = {
    MEDIA_TASK_QUEUE: taskQueue,
    MEDIA_JOURNAL: await newJournalPlace(join(stack.dataDir, taskQueue, 'journal')),
  };
  const media = new TemporalMediaClient(stack.server.client, { taskQueue });
  const script = join(__dirname, '../../support/crashing-worker.js');
  const videos: LaneVideo[] = [];
  let done = 0;
  for (; done < kills && Date.now() < untilMs; done++) {
    const worker = await startWorkerProcess(stack, script, { ...env, ...dataDirOf(stack.dataDir, done) });
    try {
      const round = Array.from({ length: IN_FLIGHT }, () => newVideo(taskQueue, videos));
      const starts = Promise.all(
        round.map(async (video) => {
          await delay(random() * STARTS_WITHIN_MS);
          const request = { model: 'cine-1', prompt: video.id, durationSeconds: 2 };
          await media.startVideo({ request, waitFor: '2h' }, { id: video.id });
          video.startedAt = Date.now();
        }),
      );
      const at = random() * (STARTS_WITHIN_MS + REST_MS);
      await untilTime(at, round, (video) => readLog(env.MEDIA_JOURNAL, stack.server.namespace, video.id));
      const killedAt = Date.now();
      worker.signal('SIGKILL');
      await Promise.all([starts, worker.gone]);
      // Before anybody takes over: the files are what the dead worker left.
      await noteKill(stack, env.MEDIA_JOURNAL, killedAt, videos);
    } finally {
      worker.signal('SIGKILL');
    }
  }
  await stack.startWorker({ env });
  for (const video of videos) {
    video.outcome ??= await media.getVideo(video.id).result();
  }
  return { journal: env.MEDIA_JOURNAL, kills: done, videos };
}

/**
 * Waits until a round is as far as it is at this time on an idle machine: a time of the clock would come before the
 * first create on a slow one. Between two creates the rest of the time is waited out.
 * @param at milliseconds of a run on an idle machine
 */
async function untilTime(
  at: number,
  round: readonly LaneVideo[],
  logOf: (video: LaneVideo) => Promise<readonly unknown[]>,
): Promise<void> {
  const gapMs = STARTS_WITHIN_MS / round.length;
  const started = Math.min(round.length, Math.floor(at / gapMs));
  await eventually(
    `${started} creates`,
    async () => (await Promise.all(round.map(logOf))).filter(({ length }) => length > 0).length >= started,
    300_000,
  );
  await delay(at - started * gapMs);
}

function newVideo(taskQueue: string, videos: LaneVideo[]): LaneVideo {
  const video: LaneVideo = {
    id: `${taskQueue}/${videos.length}`,
    startedAt: Infinity,
    killsOutside: 0,
    inside: false,
    outcome: undefined,
  };
  videos.push(video);
  return video;
}

/** What a kill left of every workflow that is open. */
async function noteKill(
  stack: MediaStack,
  journal: string,
  killedAt: number,
  videos: readonly LaneVideo[],
): Promise<void> {
  const { client, namespace } = stack.server;
  const note = async (video: LaneVideo): Promise<void> => {
    const handle = client.workflow.getHandle(video.id);
    if ((await handle.describe()).status.name !== 'RUNNING') {
      video.outcome = (await handle.result()) as VideoOutcome;
      return;
    }
    if (video.inside) return;
    const log = await readLog(journal, namespace, video.id);
    video.inside = hasOpenIntent(log.map(({ entry }) => entry));
    if (!video.inside && video.startedAt < killedAt) video.killsOutside += 1;
  };
  await Promise.all(videos.filter(({ outcome }) => outcome === undefined).map(note));
}
