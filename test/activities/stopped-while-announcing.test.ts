import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createCreateVideo } from '../../src/activities/create-video';
import { announcedIn } from '../../src/domain/create-heartbeat';
import { createMediaClient } from '../../src/service/create-media-client';
import { createFileJournal } from '../../src/stores/journal/file-journal';
import { json, loopback } from '../service/loopback-service';
import { paidDeps } from './paid-deps';

/** A process that is stopped (SIGSTOP, a suspended machine) goes on where it was, however long after. */
describe('a worker that was stopped while it told the server of its send', () => {
  afterEach(() => jest.restoreAllMocks());

  it('[C4.4c] sends nothing once its time is over: by then it was given up', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'temporal-media-stopped-'));
    let requests = 0;
    const service = await loopback((_, response) => {
      requests += 1;
      json(response, 200, { id: 'video_1', status: 'queued' });
    });
    const client = createMediaClient({ baseUrl: service.origin, apiKey: () => 'key' });
    const journal = createFileJournal({ root: join(folder, 'journal') });
    const activity = createCreateVideo(paidDeps(folder, journal, client));
    const env = new MockActivityEnvironment({ startToCloseTimeoutMs: 70_000 });
    const clock = Date.now.bind(Date);
    env.on('heartbeat', (details: unknown) => {
      if (announcedIn(details) !== null)
        jest.spyOn(Date, 'now').mockImplementation(() => clock() + 15 * 60_000);
    });
    try {
      const request = { model: 'm', prompt: 'stopped' };
      const answer: unknown = await env.run(activity, { creationKey: 'order-1', request });
      expect(answer).toMatchObject({ outcome: 'not_sent', cause: 'own_deadline', sent: false });
      expect(requests).toBe(0);
    } finally {
      await client.close();
      await service.close();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
