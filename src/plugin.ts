/**
 * Adds media workflows and activities to existing workers, bundles and clients.
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
import { joinBundle } from './worker/join-bundle';
import { isServed, type MediaPluginOptions, NAME, replayWorkflows, serveWorker } from './worker/serve-worker';

export { type MediaPluginOptions } from './worker/serve-worker';
export { type ServedPart } from './domain/names';
export { type Rebind } from './worker/bind-queue';

/**
 * `plugins: [new MediaPlugin()]` of `Worker.create`, `bundleWorkflowCode`, a replay, a client or a connection.
 *
 * - A worker gets our workflows and activities beside its own, and serves the activity queues of its task queue while it
 *   runs; it is bound to its journal before it is made, and starts also where that fails. Names that clash are refused.
 * - A bundle gets our workflows beside the user's.
 * - A client gets nothing: it needs none of it. So one list of plugins does for all, and a connection passes it on.
 *
 * Reads its configuration when a worker is made. Given more than once, it acts once.
 */
export class MediaPlugin
  implements WorkerPlugin, BundlerPlugin, ClientPlugin, ConnectionPlugin, NativeConnectionPlugin
{
  readonly name = NAME;

  private readonly workers: (() => Promise<boolean>)[] = [];

  constructor(private readonly options: MediaPluginOptions = {}) {}

  /**
   * Whether every worker that was made with this plugin can take creates now: it is set up, and its stores can be
   * written. For a readiness probe of your process: the stores are checked every ten seconds at most. Never rejects;
   * true if only workflows are served, and before a worker is made.
   */
  async isReady(): Promise<boolean> {
    const answers = await Promise.all(this.workers.map((isReady) => isReady()));
    return answers.every((isReady) => isReady);
  }

  /**
   * @throws WorkerSetupError, and ConfigurationError for `serve` and MEDIA_DEPLOYMENT; with `startup: 'strict'` also other
   * ConfigurationErrors, and JournalBindingError
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

  /** @throws WorkerSetupError, when the bundle is made, for workflows of the same name */
  configureBundler(options: BundleOptions): BundleOptions {
    return joinBundle(options);
  }
}
