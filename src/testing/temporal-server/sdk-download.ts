import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isExecutableFile } from './executable';

/** The SDK sets no limit of its own; a firewall that swallows packets must not stop the search for ever. */
const DOWNLOAD_TIMEOUT_MS = 3 * 60_000;

/**
 * Path of the CLI that the TypeScript SDK downloads for its own version, fetched into `cacheDir` when it is not there.
 * The SDK offers no download alone: it also starts a server, which is stopped again.
 * @throws Error with the reason when the download fails; where its host cannot be reached that is at once.
 */
export async function sdkDownload(cacheDir: string): Promise<string> {
  const { TestWorkflowEnvironment } = await import('@temporalio/testing');
  const manifest = await readFile(require.resolve('@temporalio/testing/package.json'), 'utf8');
  const { version } = JSON.parse(manifest) as { version: string };
  // The SDK's own naming of the file (sdk-core, ephemeral_server).
  const suffix = process.platform === 'win32' ? '.exe' : '';
  const file = path.join(cacheDir, `temporal-sdk-typescript-${version}${suffix}`);
  if (await isExecutableFile(file)) return file;

  await mkdir(cacheDir, { recursive: true });
  const started = TestWorkflowEnvironment.createLocal({
    server: { executable: { type: 'cached-download', downloadDir: cacheDir, ttl: '3650 days' } },
  });
  const limit = new AbortController();
  const outcome = await Promise.race([
    started.then(
      (environment) => environment.teardown(),
      // Downloaded but slow to start is still downloaded: the file decides, not the start.
      (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
    ),
    delay(DOWNLOAD_TIMEOUT_MS, new Error(`not finished within ${DOWNLOAD_TIMEOUT_MS / 60_000} minutes`), {
      signal: limit.signal,
      ref: false,
    }),
  ]).finally(() => limit.abort());
  if (await isExecutableFile(file)) return file;
  throw outcome instanceof Error
    ? new Error(shorten(outcome.message))
    : new Error('the SDK put its download somewhere else');
}

function shorten(message: string): string {
  return message.length > 160 ? `${message.slice(0, 160)}…` : message;
}
