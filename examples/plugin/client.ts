// client.ts: needs no API key. Reusing an id never buys twice.
import { type Client } from '@temporalio/client';
import { TemporalMediaClient } from 'temporal-media/client';

export async function orderFilm(client: Client, id: string, taskQueue = 'films') {
  const media = new TemporalMediaClient(client, { taskQueue });
  const request = { model: 'cine-1', prompt: 'a kite over the sea', durationSeconds: 2 };
  const started = await media.startVideo({ request, waitFor: '15m' }, { id });
  return started.result(); // an outcome, see "What comes back"
}
