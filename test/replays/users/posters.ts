import { mediaActivities } from '../../../src/workflows';

/** Buys two posters, one after the other. */
export async function pairOfPosters(taskQueue: string): Promise<readonly string[]> {
  const media = mediaActivities({ taskQueue });
  const front = await media.generateImage({ model: 'image-2', prompt: 'the front', size: '1024x1024' });
  const back = await media.generateImage({ model: 'image-2', prompt: 'the back', size: '1024x1024' });
  return [front.outcome, back.outcome];
}
