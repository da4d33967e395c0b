import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createDownloadVideos } from '../../src/activities/deliver-videos';
import { createDownloadVideo } from '../../src/activities/download-video';
import {
  type DownloadVideosInput,
  type DownloadVideosResult,
} from '../../src/domain/campaign/campaign-activities';
import { type DownloadVideoInput, type DownloadVideoResult } from '../../src/domain/download';
import { RETRY_LATER } from '../../src/domain/names';
import { type VideoTask, videoTaskById } from '../../src/domain/video-task';
import { createMediaClient } from '../../src/service/create-media-client';
import { type MediaClient } from '../../src/service/media-client';
import { FileArtifactStore } from '../../src/stores/artifacts/file-store';
import { json, loopback, type Loopback, type SeenRequest } from '../service/loopback-service';
import { makeMp4 } from '../stores/artifacts/make-media';
import { sha256 } from './download-harness';

let mp4: Buffer;
beforeAll(async () => {
  mp4 = await makeMp4(20);
});

describe('media.downloadVideos', () => {
  let root: string;
  let service: Loopback;
  let client: MediaClient;
  let environment: MockActivityEnvironment;
  const heartbeats: unknown[] = [];
  /** What the content endpoint does with a task. */
  let content: Record<string, (response: ServerResponse) => void>;
  const whole = (response: ServerResponse) =>
    response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': mp4.length }).end(mp4);

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'temporal-media-downloads-'));
    content = {};
    service = await loopback((request: SeenRequest, response) => {
      const [, , , id = '', part] = request.url.split('/');
      if (part === undefined)
        json(response, 200, { id, status: 'completed', resolution: '720p', usage: { total: 3 } });
      else (content[id] ?? whole)(response);
    });
    client = createMediaClient({ baseUrl: service.origin, apiKey: () => 'key' });
    heartbeats.length = 0;
    environment = new MockActivityEnvironment({ startToCloseTimeoutMs: 60_000, heartbeatTimeoutMs: 10_000 });
    environment.on('heartbeat', (details: unknown) => heartbeats.push(details));
  });
  afterEach(async () => {
    await client.close();
    await service.close();
    await rm(root, { recursive: true, force: true });
  });

  const deps = () => ({
    accounts: (account: string) => (account === 'default@00000000' ? client : undefined),
    artifacts: new FileArtifactStore(root),
  });
  const task = (id: string, account = 'default@00000000') => ({
    ...videoTaskById(id, account),
    resolution: '720p',
  });
  const parts = () => readdir(join(root, 'parts')).catch(() => []);
  type Batch = (input: DownloadVideosInput) => Promise<DownloadVideosResult>;
  const batch = (input: DownloadVideosInput) =>
    environment.run<[DownloadVideosInput], DownloadVideosResult, Batch>(createDownloadVideos(deps()), input);

  const download = (input: DownloadVideoInput) =>
    new MockActivityEnvironment({
      scheduledTimestampMs: Date.now(),
      scheduleToCloseTimeoutMs: 3_600_000,
    }).run<[DownloadVideoInput], DownloadVideoResult, ReturnType<typeof createDownloadVideo>>(
      createDownloadVideo(deps()),
      input,
    );

  it('[C4.1] [C4.3] gives each video that came as its own download would, without a side-car', async () => {
    const { results } = await batch({ videos: ['a', 'b', 'c'].map((id) => task(id)) });
    const single = await download({ video: task('a') });
    expect(results).toEqual(Array.from({ length: 3 }, () => ({ ...single, sidecar: null })));
    expect(results[0]).toMatchObject({
      artifact: { sha256: sha256(mp4), bytes: mp4.length },
      usage: { total: 3 },
    });
    expect(await parts()).toEqual([]);
  });

  it('[C4.3] [C8.7] one that does not come leaves the others alone, leaves no part, and is the first try of its own download', async () => {
    content = {
      gone: (response) => json(response, 404, {}),
      page: (response) =>
        response.writeHead(200, { 'content-type': 'video/mp4' }).end('{"error":"not a video"}'),
      cut: (response) => {
        response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': mp4.length });
        response.write(mp4.subarray(0, mp4.length / 2), () => response.destroy());
      },
      incomplete_file: (response) => {
        const half = mp4.subarray(0, mp4.length / 2);
        response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': half.length }).end(half);
      },
      limited: (response) => json(response, 429, {}, { 'retry-after': '77' }),
    };
    const ids = ['a', 'gone', 'page', 'cut', 'incomplete_file', 'limited', 'b'];
    const videos = [...ids.map((id) => task(id)), task('c', 'other@11111111')];
    const { results } = await batch({ videos });
    const ends = results.map((result) =>
      result === null ? null : 'outcome' in result ? result.outcome : result.problem.kind,
    );
    expect(ends).toEqual([
      'downloaded',
      'missing',
      'not_video',
      'network',
      'incomplete_file',
      'rate_limited',
      'downloaded',
      'account_not_configured',
    ]);
    expect((await parts()).filter((name) => !name.endsWith('.rejected'))).toEqual([]);
    const requests = () => service.seen.filter(({ url }) => url.endsWith('/content')).length;
    expect(requests()).toBe(ids.length);
    const delays: unknown[] = [];
    for (const [index, tried] of results.entries()) {
      if (tried === null || 'outcome' in tried) continue;
      const video = videos[index] as VideoTask;
      const failure: unknown = await download({ video, tried }).catch((error: unknown) => error);
      expect(failure).toMatchObject({ type: RETRY_LATER });
      delays.push((failure as { readonly nextRetryDelay: unknown }).nextRetryDelay);
    }
    expect(delays.slice(0, -1)).toEqual([4_000, 4_000, 4_000, 4_000, 77_000]);
    expect(requests()).toBe(ids.length);
  });

  it('fetches a full group a few at a time', async () => {
    let open = 0;
    let most = 0;
    const ids = Array.from({ length: 25 }, (_, index) => `v${index}`);
    for (const id of ids)
      content[id] = (response) => {
        open += 1;
        most = Math.max(most, open);
        setTimeout(() => {
          open -= 1;
          whole(response);
        }, 5);
      };
    const { results } = await batch({ videos: ids.map((id) => task(id)) });
    expect(results.every((result) => result !== null && 'outcome' in result)).toBe(true);
    expect(most).toBeLessThanOrEqual(8);
    await expect(batch({ videos: [...ids, 'one-more'].map((id) => task(id)) })).rejects.toThrow(
      'at most 25 videos',
    );
  });

  it.each(['CANCELLED', 'WORKER_SHUTDOWN'] as const)(
    'ends when it is cancelled (%s) and leaves no part',
    async (why) => {
      content = {
        hangs: (response) => {
          response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': mp4.length });
          response.write(mp4.subarray(0, mp4.length / 2), () => environment.cancel(why));
        },
      };
      const ended = batch({ videos: [task('hangs')] });
      if (why === 'CANCELLED') await expect(ended).rejects.toMatchObject({ name: 'CancelledFailure' });
      else expect(await ended).toMatchObject({ results: [null] });
      expect(await parts()).toEqual([]);
    },
  );
});
