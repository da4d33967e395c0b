import { type ArtifactStore } from '../artifacts/artifact-store';
import { CliError } from './cli-error';
import { type Connected } from './connect';
import { type Report } from './report';

/** A worker that is up answers at once; one that is busy is not waited for any longer. */
const WORKER_MS = 15_000;

/**
 * Asks the worker, before anything is started, whether this command sees its artifact store: what is paid would not be
 * found here otherwise. Nothing is asked where no worker is. @throws CliError `other_artifact_store`
 */
export async function requireSameStore(
  { media, taskQueue }: Connected,
  store: ArtifactStore,
  report: Report,
): Promise<void> {
  const worker = await media.artifactStore({ timeoutMs: WORKER_MS }).catch(() => undefined);
  if (worker === undefined) {
    report.say(
      `${report.paint('warn', 'warning:')} no worker of ${taskQueue} said which artifact store it has; whether this command finds the files there is not known.`,
    );
    return;
  }
  if (worker.storeId === null || worker.storeId === (await store.identity?.())) return;
  throw new CliError(
    'other_artifact_store',
    `The worker of the task queue ${taskQueue} keeps its files in another artifact store than this command (MEDIA_ARTIFACTS): neither finds the files of the other. Nothing was started.`,
  );
}
