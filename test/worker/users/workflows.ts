import { proxyActivities, proxySinks, sleep, workflowInfo, type Sinks } from '@temporalio/workflow';
import { type ArtifactRef, type VideoOutcome } from '../../../src/domain';
import { executeVideo } from '../../../src/workflows';

export interface UsersActivities {
  sizeOf(artifact: ArtifactRef): Promise<number>;
}

export interface UsersSinks extends Sinks {
  readonly log: { premiere(film: string): void };
}

export interface Premiere {
  readonly film: VideoOutcome;
  readonly bytes: number;
}

const { sizeOf } = proxyActivities<UsersActivities>({
  startToCloseTimeout: '1 minute',
  retry: { maximumAttempts: 1 },
});
const { log } = proxySinks<UsersSinks>();

/** A user's workflow: a film of ours, and an activity of their own that reads it. */
export async function premiere(prompt: string): Promise<Premiere> {
  const film = await executeVideo(
    { request: { model: 'cine-1', prompt, durationSeconds: 2 } },
    { taskQueue: workflowInfo().taskQueue },
  );
  log.premiere(film.outcome);
  return { film, bytes: film.outcome === 'completed' ? await sizeOf(film.artifact) : 0 };
}

/** A user's workflow that has nothing to do with us. */
export async function rehearsal(): Promise<string> {
  await sleep(100);
  return 'rehearsed';
}
