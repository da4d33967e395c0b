// Your workflows. Those of this package come beside them.
import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import { executeVideo } from 'temporal-media/workflows';
import { type FilmActivities } from './activities';

const { publish } = proxyActivities<FilmActivities>({ startToCloseTimeout: '10 minutes' });

/** A reset or a retry of this workflow does not buy the film twice. */
export async function productFilm(prompt: string): Promise<string> {
  const request = { model: 'cine-1', prompt, durationSeconds: 2 };
  const film = await executeVideo({ request }, { taskQueue: workflowInfo().taskQueue });
  return film.outcome === 'completed' ? publish(film.artifact) : film.outcome;
}
