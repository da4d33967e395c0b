import { Context } from '@temporalio/activity';
import { ActivityNotFoundError, type Client } from '@temporalio/client';
import { reportIfMistake } from '../activities/mistakes';
import { mapConcurrently } from '../domain/map-concurrently';
import { type Metrics } from '../domain/metrics';
import { type TellVideosInput, type Told } from '../domain/shared-watch';

const CONCURRENT = 10;

/**
 * `media.tellVideos`: completes the activity of each video. When the server did not take an answer, the attempt fails
 * after the others, and the next one repeats all.
 */
export function createTellVideos(metrics: Metrics): (input: TellVideosInput) => Promise<void> {
  return async ({ told }) => {
    const { client } = Context.current();
    const failed: unknown[] = [];
    await mapConcurrently(told, CONCURRENT, async (one) => {
      try {
        await tellVideo(client, metrics, one);
      } catch (error) {
        failed.push(error);
      }
    });
    if (failed.length > 0) throw failed[0];
  };
}

/**
 * Completes the activity with which a video waits. One that is not there any more has ended, or joins again by itself.
 * @throws when the server did not take the answer
 */
async function tellVideo(client: Client, metrics: Metrics, { waiter, answer }: Told): Promise<void> {
  const { workflowId, runId, activityId } = waiter;
  let result: 'told' | 'full' | 'gone' = answer.kind === 'full' ? 'full' : 'told';
  try {
    await client.activity.complete({ workflowId, runId, activityId }, answer);
  } catch (error) {
    if (!(error instanceof ActivityNotFoundError)) throw error;
    result = 'gone';
  }
  metrics.record('watchEnds', 1, { result });
}

/** Pauses before an answer is given again, in milliseconds: it must not wait for the slowest file of its delivery. */
const AGAIN_MS = [1_000, 2_000, 4_000];

/** As {@link tellVideo}, a few times. */
export async function tellSurely(client: Client, metrics: Metrics, told: Told): Promise<void> {
  for (const pauseMs of AGAIN_MS) {
    try {
      return await tellVideo(client, metrics, told);
    } catch (error) {
      reportIfMistake(error);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
  await tellVideo(client, metrics, told);
}
