/**
 * Adds the media workflows and activities to existing workers, bundles and clients.
 *
 * @module
 */
import { type ClientPlugin, type ConnectionPlugin } from '@temporalio/client';
import {
  type BundleOptions,
  type BundlerPlugin,
  type NativeConnectionPlugin,
  type ReplayWorkerOptions,
  type WorkerOptions,
  type WorkerPlugin,
} from '@temporalio/worker';
import { NAME } from './worker/activity-workers';
import { joinBundle } from './worker/join-bundle';
import { isServed, type MediaPluginOptions, replayWorkflows, serveWorker } from './worker/serve-worker';

export { type MediaPluginOptions } from './worker/serve-worker';
export { type ServedPart } from './domain/names';
export { type Rebind } from './worker/bind-queue';

/**
 * A plugin for `Worker.create`, `bundleWorkflowCode`, replays, clients and connections. Pass `plugins: [new
 * MediaPlugin()]`.
 *
 * - A worker gets this package's workflows and activities in addition to its own. While it runs, it also serves the
 *   activity queues of its task queue. Its queue is bound to the journal before the worker is created. By default, the
 *   worker starts even if that fails. Name clashes are rejected.
 * - A bundle gets this package's workflows in addition to yours.
 * - A client is left unchanged, so the same plugin list works everywhere. A connection passes the plugin on.
 *
 * Reads its configuration when a worker is created. If the plugin is listed more than once, it is applied once.
 */
export class MediaPlugin
  implements WorkerPlugin, BundlerPlugin, ClientPlugin, ConnectionPlugin, NativeConnectionPlugin
{
  readonly name = NAME;

  private readonly workers: (() => Promise<boolean>)[] = [];

  constructor(private readonly options: MediaPluginOptions = {}) {}

  /**
   * Returns whether every worker created with this plugin can take creates right now, that is, whether it is set up and
   * its stores are writable. Suitable for the readiness probe of your process, because the stores are checked at most
   * every ten seconds. Never rejects. Returns true if only workflows are served, or if no worker has been created yet.
   */
  async isReady(): Promise<boolean> {
    const answers = await Promise.all(this.workers.map((isReady) => isReady()));
    return answers.every((isReady) => isReady);
  }

  /**
   * @throws WorkerSetupError, and ConfigurationError for `serve` and MEDIA_DEPLOYMENT; with `startup: 'strict'`, also
   * every other ConfigurationError, and JournalBindingError
   */
  async configureWorker(options: WorkerOptions): Promise<WorkerOptions> {
    return isServed(options)
      ? options
      : serveWorker(this.options, options, (isReady) => this.workers.push(isReady));
  }

  /** @throws WorkerSetupError */
  async configureReplayWorker(options: ReplayWorkerOptions): Promise<ReplayWorkerOptions> {
    return replayWorkflows(options);
  }

  /** @throws WorkerSetupError while bundling, if two workflows have the same name */
  configureBundler(options: BundleOptions): BundleOptions {
    return joinBundle(options);
  }
}
