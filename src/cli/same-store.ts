import { otherwise } from '../domain/bug';
import { type ArtifactStore } from '../artifacts/artifact-store';
import { plainClient, readLedger } from '../binding/ledger';
import { CliError } from './errors';
import { type Connected } from './connect';
import { type Report } from './report';

/** Longest wait for a worker, in milliseconds; an idle one answers at once. */
const WORKER_MS = 15_000;

/**
 * Checks, before anything is started, that this command uses the artifact store of the workers: it could not find what
 * was paid for otherwise. @throws CliError `other_artifact_store`
 */
export async function requireSameStore(
  connected: Connected,
  store: ArtifactStore,
  { report, hasWorker }: { readonly report: Report; readonly hasWorker: boolean },
): Promise<void> {
  const { taskQueue } = connected;
  const storeId = await storeOfWorkers(connected, hasWorker);
  if (storeId === undefined) {
    report.say(
      `${report.paint('warn', 'warning:')} no worker of ${taskQueue} has reported its artifact store; it is unknown whether this command finds the files there.`,
    );
    return;
  }
  if (storeId === null || storeId === (await store.identity?.())) return;
  throw new CliError(
    'other_artifact_store',
    `The worker of the task queue ${taskQueue} keeps its files in another artifact store than this command (MEDIA_ARTIFACTS): neither finds the files of the other. Nothing was started.`,
  );
}

/** Reads the ledger, which binds all workers to one store, else asks a worker. Null for a store without a name. */
async function storeOfWorkers(
  { media, client, taskQueue }: Connected,
  hasWorker: boolean,
): Promise<string | null | undefined> {
  const found = await readLedger(plainClient(client), taskQueue).catch(otherwise(undefined));
  const bound = found?.ledger.artifacts;
  if (typeof bound === 'string') return bound;
  if (!hasWorker) return undefined;
  return (await media.artifactStore({ timeoutMs: WORKER_MS }).catch(otherwise(undefined)))?.storeId;
}
