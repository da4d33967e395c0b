// workflows.ts: your workflows. The plugin adds this package's workflows.
import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import { executeVideo, orThrow, resumeVideo } from 'temporal-media/workflows';
import { type FilmActivities } from './activities';

const { publish } = proxyActivities<FilmActivities>({ startToCloseTimeout: '10 minutes' });

/** A reset or a retry of this workflow does not buy the film twice. */
export async function productFilm(prompt: string): Promise<string> {
  const { taskQueue } = workflowInfo();
  const request = { model: 'cine-1', prompt, durationSeconds: 2 };
  let film = await executeVideo({ request }, { taskQueue });
  // Already bought and still running: wait for it.
  while (film.outcome === 'still_running') film = await resumeVideo(film.video, { taskQueue });
  // If there is no film, this workflow fails with the outcome and its task id in the failure.
  return publish(orThrow(film).artifact);
}
