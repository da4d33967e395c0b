// A client needs no API key or base URL. Reusing an id never buys twice.
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
    case 'still_running': // not a failure: the task is still running, and resume() never creates another
      return (await media.resume(outcome.video.taskId)).result();
    case 'unconfirmed': // sent, but it may not have been accepted: a person decides with `temporal-media unconfirmed`
    default:
      throw new Error(`No video: ${outcome.outcome}. ${failureRow(outcome)?.hint ?? ''}`);
  }
}
