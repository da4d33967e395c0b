import { type ActivityQueuesOptions } from '../activity-workers';
import { type MediaConfig } from '../config';
import { type Rebind } from '../worker/bind-queue';
import { type PartsOptions } from '../worker/media-parts';
import { type ServedPart } from '../worker/served-parts';

/** Options of `MediaPlugin`. Without any, everything is read from the environment. */
export interface MediaPluginOptions extends PartsOptions {
  /** Its task queue is not used: that of the worker is. @default read from `env` when a worker is made */
  readonly config?: MediaConfig;
  /** @default process.env */
  readonly env?: NodeJS.ProcessEnv;
  /**
   * What a worker does whose settings, accounts, stores or journal cannot be used when it is made. `tolerant`: it starts,
   * so that your own workflows and activities go on; paid calls are refused with the cause and nothing is sent, one line
   * at ERROR says what to do, `isReady` is false, and it goes on by itself when the cause is gone. `strict`:
   * `Worker.create` throws. @default 'tolerant'; with `rebind` 'strict'
   */
  readonly startup?: 'tolerant' | 'strict';
  /** What the workers serve, see docs/operations.md. @default `MEDIA_SERVE`, else everything */
  readonly serve?: readonly ServedPart[];
  /**
   * Binds the queue to this journal instead of another one; only when no worker uses that one any more. `true` accepts
   * the calls that are lost; a function receives them before anything is changed, and throws to refuse.
   */
  readonly rebind?: Rebind;
  /** Slots and rates of the activity queues. @default 50 create, 50 poll, 20 download, 20 image activities at a time */
  readonly queues?: ActivityQueuesOptions;
}
