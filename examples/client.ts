// A client: no key, no base address. Reusing an id never buys twice.
import { type Client } from '@temporalio/client';
import { failureRow } from 'temporal-media';
import { TemporalMediaClient } from 'temporal-media/client';

export async function orderFilm(client: Client, orderId: string, taskQueue = 'temporal-media') {
  const media = new TemporalMediaClient(client, { taskQueue });
  const started = await media.startVideo(
    {
      request: { model: 'cine-1', prompt: 'a kite over the sea', durationSeconds: 2, resolution: '480p' },
      waitFor: '15m',
    },
    { id: orderId },
  );
  const outcome = await started.result();
  switch (outcome.outcome) {
    case 'completed':
      return outcome.artifact.uri;
    case 'still_running': // not a failure: the task continues, and resume() never creates
      return (await media.resume(outcome.video.taskId)).result();
    case 'unconfirmed': // sent once, fate unknown: a person decides, `temporal-media unconfirmed`
    default:
      throw new Error(`No video: ${outcome.outcome}. ${failureRow(outcome)?.hint ?? ''}`);
  }
}
