import { type DataConverter } from '@temporalio/common';
import { type Logger } from '@temporalio/worker';
import { given } from 'temporal-media/internal/domain/json';
import { servedBy } from 'temporal-media/internal/domain/names';
import { type MediaConfig } from 'temporal-media/worker';

interface NoticesOfWorker {
  readonly env: NodeJS.ProcessEnv;
  readonly config: MediaConfig;
  readonly dataConverter: DataConverter | undefined;
  readonly logger: Logger;
}

/**
 * Starts the notices of a worker if MEDIA_NOTIFY is set, once the worker is ready. An unusable MEDIA_NOTIFY is logged, and
 * the worker keeps running: it never stops paid work.
 * @returns stops them; undefined if there are none
 */
export async function noticesOfWorker({
  env,
  config,
  dataConverter,
  logger,
}: NoticesOfWorker): Promise<(() => Promise<void>) | undefined> {
  if (!env['MEDIA_NOTIFY']?.trim()) return undefined;
  // They need the journal.
  if (!servedBy(config.serve).ownActivities) {
    logger.info('This worker sends no notices: those that serve `create` send them');
    return undefined;
  }
  try {
    const { startNotices } = await import('@temporal-media/notices');
    const notices = startNotices({ env, config, ...given({ dataConverter }) });
    logger.info('Sending notices to the endpoints in MEDIA_NOTIFY');
    return () => notices.stop();
  } catch (error) {
    // Nobody awaits this promise, so even a bug of ours is only logged: it must not end the worker.
    const remedy = 'Fix it, then restart the worker. `temporal-media notices test` sends a test notice.';
    logger.error('No notices are sent', { error: (error as Error).message, remedy });
    return undefined;
  }
}
