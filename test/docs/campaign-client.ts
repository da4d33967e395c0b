// The code of docs/campaigns-from-code.md; a test holds the two together.
import { type Client } from '@temporalio/client';
import { TemporalMediaClient } from '../../src/client';
import { type ArtifactRef } from '../../src/domain';

export async function films(client: Client, manifest: ArtifactRef) {
  const media = new TemporalMediaClient(client);
  const input = { manifest: { source: { artifact: manifest } }, concurrency: 200 };
  const started = await media.campaigns.start(input, { id: 'spring' });
  for await (const { counts, money } of media.campaigns.watch('spring')) console.error(counts, money);
  return started.result();
}
