import { setTimeout as delay } from 'node:timers/promises';
import { Runtime, type Worker } from '@temporalio/worker';
import { kept } from '../activities/admission';
import { createMediaActivities } from '../activities/create-media-activities';
import { clearOf, framesOf, retryLater } from '../activities/failures';
import { type MediaActivities } from '../domain/activities';
import { isBug, otherwise } from '../domain/bug';
import { type CreateJournal } from '../domain/journal';
import { ACTIVITY } from '../domain/names';
import { accountRegistry } from '../settings/accounts';
import { createModelSource } from '../settings/model-source';
import { ArtifactError, type ArtifactStore } from '../stores/artifacts/artifact-store';
import { journalFault } from '../stores/journal/records';
import { type MediaParts } from './media-parts';

/** Milliseconds between two tries, and the longest time that the user's worker waits for the first one. */
const AGAIN_MS = 10_000;

/** What a worker needs before it can pay. */
export interface Steps {
  /** Reads the configuration and opens accounts and stores. */
  make(): Promise<MediaParts>;
  /** Binds the queue to the journal. */
  bind(parts: MediaParts): Promise<void>;
}

type Run = (input: never) => Promise<unknown>;
type Activities = { readonly [type: string]: Run };

/**
 * The parts of the user's worker, which runs even if they cannot be made. Until they are, paid calls are answered with
 * the reason and nothing is sent, the other activities fail and are retried, and making the parts is retried.
 */
export class LateParts {
  /** Under their registered names. */
  readonly activities: MediaActivities;
  private parts: MediaParts | undefined;
  private worker: Worker | undefined;
  private trying: Promise<void> | undefined;
  /** Why calls are refused; undefined once the queue is bound. */
  private reason: string | undefined = 'It has not been set up yet.';
  private loggedReason: string | undefined;
  private readonly closed = new AbortController();

  private constructor(private readonly steps: Steps) {
    const refusing = refusingActivities(() => `Nothing was sent by this worker: ${this.reason ?? ''}`);
    const run = (type: string) => async (input: never) => {
      const activities = (this.parts?.activities ?? refusing) as unknown as Activities;
      return activities[type]!(input);
    };
    this.activities = Object.fromEntries(
      Object.values(ACTIVITY).map((type) => [type, run(type)]),
    ) as unknown as MediaActivities;
  }

  /** @param strict throws what the first try throws @throws ConfigurationError, JournalBindingError */
  static async of(steps: Steps, strict: boolean): Promise<LateParts> {
    const late = new LateParts(steps);
    if (strict) {
      await late.setUp().catch(async (error: unknown) => {
        await late.close();
        throw error;
      });
      return late;
    }
    // A store that does not answer must not keep the user's worker from its own work.
    const limit = new AbortController();
    await Promise.race([
      late.tryOnce(),
      delay(AGAIN_MS, undefined, { signal: limit.signal }).catch(otherwise(undefined)),
    ]);
    limit.abort();
    return late;
  }

  /** The parts, once they are set up. */
  get ready(): MediaParts | undefined {
    return this.reason === undefined && !this.closed.signal.aborted ? this.parts : undefined;
  }

  /** Called when the user's worker begins to run. */
  begin(worker: Worker): void {
    this.worker = worker;
    this.parts?.begin(worker);
    void this.goOn();
  }

  /** Called once no worker runs. Does not wait for a try that hangs; that one closes what it has opened. */
  async close(): Promise<void> {
    this.closed.abort();
    await this.parts?.close();
  }

  /** Logs a failure of the workers of the activity queues, and waits until they are to be made again. */
  readonly pause = async (error: unknown): Promise<void> => {
    logFailure('The workers of the activity queues have failed', error);
    await this.untilNext();
  };

  private async goOn(): Promise<void> {
    await this.trying;
    while (this.reason !== undefined && !this.closed.signal.aborted) {
      await this.untilNext();
      if (!this.closed.signal.aborted) await this.tryOnce();
    }
  }

  private async untilNext(): Promise<void> {
    await delay(AGAIN_MS, undefined, { signal: this.closed.signal }).catch(otherwise(undefined));
  }

  /** Never rejects. */
  private tryOnce(): Promise<void> {
    this.trying ??= this.setUp()
      .catch((error: unknown) => {
        this.reason = reasonOf(error);
        if (this.reason === this.loggedReason || this.closed.signal.aborted) return;
        this.loggedReason = this.reason;
        logFailure('It cannot be set up in this worker', error);
      })
      .finally(() => {
        this.trying = undefined;
      });
    return this.trying;
  }

  private async setUp(): Promise<void> {
    if (this.parts === undefined) {
      const parts = await this.steps.make();
      if (this.closed.signal.aborted) return parts.close();
      this.parts = parts;
      if (this.worker !== undefined) this.parts.begin(this.worker);
    }
    await this.steps.bind(this.parts);
    this.reason = undefined;
    if (this.loggedReason !== undefined)
      Runtime.instance().logger.info('temporal-media is set up: paid calls are sent');
  }
}

/** In the log of the worker, including paths, which histories do not get. */
function logFailure(what: string, error: unknown): void {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  Runtime.instance().logger.error(
    `temporal-media: ${what}. Its paid calls are refused and nothing is sent; your own workflows and activities go on. It is ` +
      `tried again every ${AGAIN_MS / 1000} seconds, and temporal-media doctor checks the same settings. ${wordsOf(error) ?? clearOf([])(message)}`,
    isBug(error) ? { stack: framesOf(stack).join('\n') } : {},
  );
}

/** Errors that name what to change, and repeat no value and no path. */
const SAYS_WHY: ReadonlySet<string> = new Set(['ConfigurationError', 'JournalBindingError']);

function wordsOf(error: unknown): string | undefined {
  return error instanceof Error && SAYS_WHY.has(error.name) ? error.message : undefined;
}

/** For histories. */
function reasonOf(error: unknown): string {
  const words = wordsOf(error);
  if (words !== undefined) return words;
  return error instanceof ArtifactError
    ? `The artifact store cannot be used (${error.code}).`
    : `A store of it cannot be used. ${journalFault(error)}`;
}

/** Activities that answer without a request: a paid call of earlier attempts is still never called unsent. */
const ANSWERING: ReadonlySet<string> = new Set([
  ACTIVITY.createVideo,
  ACTIVITY.createVideos,
  ACTIVITY.generateImage,
  ACTIVITY.editImage,
  ACTIVITY.campaignImage,
]);

function refusingActivities(why: () => string): Activities {
  const answering = createMediaActivities({
    accounts: accountRegistry([]),
    artifacts: absent<ArtifactStore>(why),
    journal: absent<CreateJournal>(why),
    models: createModelSource({}),
    standing: async () => ({ bound: false, message: why() }),
  }) as unknown as Activities;
  const failing: Run = async () => {
    throw await kept(retryLater({ class: 'worker_not_set_up', message: why() }));
  };
  return Object.fromEntries(
    Object.values(ACTIVITY).map((type) => {
      const answer = answering[type]!;
      return [type, ANSWERING.has(type) ? async (input: never) => kept(await answer(input)) : failing];
    }),
  );
}

/** A missing store: every call of it fails. */
function absent<Store extends object>(why: () => string): Store {
  return new Proxy({} as Store, {
    get: (_store, name) =>
      // Not a promise.
      name === 'then'
        ? undefined
        : async () => {
            throw new Error(why());
          },
  });
}
