import { mediaActivities } from '../../../src/workflows';

/** The same posters in the other order, changed while workflows ran. */
export async function pairOfPosters(taskQueue: string): Promise<readonly string[]> {
  const media = mediaActivities({ taskQueue });
  const back = await media.generateImage({ model: 'image-2', prompt: 'the back', size: '1024x1024' });
  const front = await media.generateImage({ model: 'image-2', prompt: 'the front', size: '1024x1024' });
  return [front.outcome, back.outcome];
}
