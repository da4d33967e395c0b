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

/** Milliseconds between setup attempts. Also the maximum time that the user's worker waits for the first attempt. */
const AGAIN_MS = 10_000;

/** The setup steps that a worker needs before it can make paid calls. */
export interface Steps {
  /** Reads the configuration and opens accounts and stores. */
  make(): Promise<MediaParts>;
  /** Binds the queue to the journal. */
  bind(parts: MediaParts): Promise<void>;
}

type Run = (input: never) => Promise<unknown>;
type Activities = { readonly [type: string]: Run };

/**
 * This package's parts of the user's worker. The worker runs even if the parts cannot be set up. Until they are, the
 * setup is retried, paid calls are refused with the reason and nothing is sent, and other activities fail and are
 * retried.
 */
export class LateParts {
  /** The activities by their registered names. */
  readonly activities: MediaActivities;
  private parts: MediaParts | undefined;
  private worker: Worker | undefined;
  private trying: Promise<void> | undefined;
  /** The reason for refusing calls; undefined once the queue is bound. */
  private reason: string | undefined = 'The setup has not finished yet.';
  private loggedReason: string | undefined;
  private readonly closed = new AbortController();

  private constructor(private readonly steps: Steps) {
    const refusing = refusingActivities(() => `This worker sent nothing. ${this.reason ?? ''}`);
    const run = (type: string) => async (input: never) => {
      const activities = (this.parts?.activities ?? refusing) as unknown as Activities;
      return activities[type]!(input);
    };
    this.activities = Object.fromEntries(
      Object.values(ACTIVITY).map((type) => [type, run(type)]),
    ) as unknown as MediaActivities;
  }

  /** @param strict whether to throw the error of the first attempt @throws ConfigurationError, JournalBindingError */
  static async of(steps: Steps, strict: boolean): Promise<LateParts> {
    const late = new LateParts(steps);
    if (strict) {
      await late.setUp().catch(async (error: unknown) => {
        await late.close();
        throw error;
      });
      return late;
    }
    // A store that does not respond must not keep the user's worker from doing its other work.
    const limit = new AbortController();
    await Promise.race([
      late.tryOnce(),
      delay(AGAIN_MS, undefined, { signal: limit.signal }).catch(otherwise(undefined)),
    ]);
    limit.abort();
    return late;
  }

  /** The parts, if they are set up. */
  get ready(): MediaParts | undefined {
    return this.reason === undefined && !this.closed.signal.aborted ? this.parts : undefined;
  }

  /** Called when the user's worker starts to run. */
  begin(worker: Worker): void {
    this.worker = worker;
    this.parts?.begin(worker);
    void this.goOn();
  }

  /**
   * Call this once no worker is running. Does not wait for a setup attempt that hangs. Such an attempt closes its own
   * resources.
   */
  async close(): Promise<void> {
    this.closed.abort();
    await this.parts?.close();
  }

  /** Logs a failure of the activity queues' workers, then waits until it is time to create the workers again. */
  readonly pause = async (error: unknown): Promise<void> => {
    logFailure('the workers of the activity queues have failed', error);
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
        logFailure('the setup in this worker has failed', error);
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
      Runtime.instance().logger.info('temporal-media is set up. Paid calls are now sent.');
  }
}

/** Writes a failure to the worker's log. The entry includes paths, which histories must not contain. */
function logFailure(what: string, error: unknown): void {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  Runtime.instance().logger.error(
    `temporal-media: ${what}. Its paid calls are refused and nothing is sent. Your own workflows and activities keep running. The setup is ` +
      `retried every ${AGAIN_MS / 1000} seconds; temporal-media doctor checks the same settings. ${wordsOf(error) ?? clearOf([])(message)}`,
    isBug(error) ? { stack: framesOf(stack).join('\n') } : {},
  );
}

/** Errors whose message says what to change and does not repeat a value or a path. */
const SAYS_WHY: ReadonlySet<string> = new Set(['ConfigurationError', 'JournalBindingError']);

function wordsOf(error: unknown): string | undefined {
  return error instanceof Error && SAYS_WHY.has(error.name) ? error.message : undefined;
}

/** Returns the reason in a form that histories may contain. */
function reasonOf(error: unknown): string {
  const words = wordsOf(error);
  if (words !== undefined) return words;
  return error instanceof ArtifactError
    ? `The artifact store cannot be used (${error.code}).`
    : `One of its stores cannot be used. ${journalFault(error)}`;
}

/**
 * Activities that can return an answer without sending a request. Such an answer never reports an earlier attempt's
 * call as unsent.
 */
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

/** Returns a placeholder for a missing store, on which every call fails. */
function absent<Store extends object>(why: () => string): Store {
  return new Proxy({} as Store, {
    get: (_store, name) =>
      // Without this case, `await` would treat the proxy as a promise.
      name === 'then'
        ? undefined
        : async () => {
            throw new Error(why());
          },
  });
}
