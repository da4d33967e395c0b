import { parentPort, workerData } from 'node:worker_threads';
import { createMediaClient } from '../service/create-media-client';
import { accountRegistry } from './accounts';
import { createPollVideos } from './poll-videos';
import { type PollJob, type PollReply, type PollThreadData } from './poll-in-thread';

// Entry of the thread that pollInThread starts: receives ticks, posts answers.
const { account, baseUrl, connections } = workerData as PollThreadData;
let key = '';
const client = createMediaClient({ baseUrl, apiKey: () => key, connections: { poll: connections } });
const pollVideos = createPollVideos({
  accounts: accountRegistry([{ name: account, client, hasKey: () => Promise.resolve(key !== '') }]),
  pollConcurrency: connections,
});

function post(reply: PollReply): void {
  parentPort?.postMessage(reply);
}

parentPort?.on('message', (job: PollJob) => {
  // The key of the newest tick, so that a changed key takes effect.
  key = job.key;
  pollVideos(job.input).then(
    (result) => post({ id: job.id, result }),
    (error: unknown) => post({ id: job.id, error: String(error) }),
  );
});
