import { parentPort } from 'node:worker_threads';
import { type MediaSpec } from './media-spec';
import { renderMedia } from './render-video';

/** The media store's worker thread. Renders the specs that it receives. */
parentPort?.on('message', (job: { id: number; spec: MediaSpec }) => {
  renderMedia(job.spec).then(
    (bytes) => parentPort?.postMessage({ id: job.id, bytes }),
    (error: unknown) => parentPort?.postMessage({ id: job.id, error: String(error) }),
  );
});
