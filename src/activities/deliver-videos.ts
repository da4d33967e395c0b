import { setTimeout as delay } from 'node:timers/promises';
import { activityInfo, Context } from '@temporalio/activity';
import { type Metrics } from '../domain/metrics';
import { type DeliverVideosInput, type Delivery, type Told, type WatchEnd } from '../domain/shared-watch';
import { tellVideo } from '../watchers/tell-videos';
import { CONCURRENT_DOWNLOADS, type DownloadGroup, openDownloadGroup } from './download-group';
import { type DownloadDeps, withSidecar } from './download-video';
import { startHeartbeat } from './heartbeat';
import { reportIfMistake } from './mistakes';

/** A video whose turn has not come by then waits for no other: it is told, and fetches its file on any worker. */
const BEGIN_WITHIN_MS = 5_000;

/**
 * `media.deliverVideos`: fetches finished videos with one try each, and completes the activity of each video as soon as
 * its file is stored (ADR 26). One whose try fails is told so: that try is the first of its own download. A video that has
 * reached its deadline waits for no file. When the server did not take an answer, this fails after the others.
 */
export function createDeliverVideos(
  deps: DownloadDeps,
  metrics: Metrics,
): (input: DeliverVideosInput) => Promise<void> {
  return async ({ deliveries }) => {
    const { client } = Context.current();
    const beat = startHeartbeat();
    const group = openDownloadGroup(deps);
    const waiting = [...deliveries];
    const failed: unknown[] = [];
    const tell = async ({ waiter, answer }: Delivery, fetches: boolean): Promise<void> => {
      try {
        const brought = fetches && !group.isOver() ? await bring(deps, group, answer) : answer;
        await tellSurely(client, metrics, { waiter, answer: brought });
      } catch (error) {
        failed.push(error);
      }
    };
    const late: Promise<void>[] = [];
    const timer = setTimeout(
      () => late.push(...waiting.splice(0).map((one) => tell(one, false))),
      BEGIN_WITHIN_MS,
    );
    const lane = async (): Promise<void> => {
      for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) await tell(one, true);
    };
    try {
      await Promise.all(Array.from({ length: CONCURRENT_DOWNLOADS }, lane));
      await Promise.all(late);
    } finally {
      clearTimeout(timer);
      group.close();
      beat.stop();
    }
    if (failed.length > 0) throw failed[0];
  };
}

async function bring(
  deps: DownloadDeps,
  group: DownloadGroup,
  answer: Delivery['answer'],
): Promise<WatchEnd> {
  const startedAt = new Date();
  const { video, deadlineAt } = answer.state;
  const tried = await group.fetch(video, deadlineAt);
  if (tried !== null && 'video' in tried) {
    const info = activityInfo();
    const downloaded = await withSidecar(deps, { video }, { downloaded: tried, info, startedAt });
    return { ...answer, downloaded };
  }
  // A try that was cut off says nothing about the file.
  const isCut = group.isOver() || group.isPast(deadlineAt);
  return tried === null || isCut ? answer : { ...answer, tried };
}

/** Pauses before an answer is given again, in milliseconds: it must not wait for the slowest file of the group. */
const AGAIN_MS = [1_000, 2_000, 4_000];

async function tellSurely(client: Context['client'], metrics: Metrics, told: Told): Promise<void> {
  for (const pauseMs of AGAIN_MS) {
    try {
      return await tellVideo(client, metrics, told);
    } catch (error) {
      reportIfMistake(error);
      await delay(pauseMs);
    }
  }
  await tellVideo(client, metrics, told);
}
