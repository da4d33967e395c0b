import { Worker } from '@temporalio/worker';
import {
  accountName,
  accountRegistry,
  createMediaActivities,
  createMediaClient,
  createModelSource,
  normaliseBaseUrl,
} from '../../../src/activities';
import { ACTIVITY } from '../../../src/domain/names';
import { openArtifactStore } from '../../../src/stores';
import { SANDBOX_KEY, type MediaStack } from '../../support/media-stack';
import { alwaysBound } from '../../support/queue-binding';
import { journalAt } from '../../support/store-places';

/** What becomes of one attempt of a paid activity: `real` is the activity as it is, `attempt` counts from 1. */
export type Script = (real: () => Promise<unknown>, attempt: number) => Promise<unknown>;

/** A worker for activities only, whose paid activities fail as a test says. It shares the journal of its stack. */
export interface FlakyWorker {
  readonly taskQueue: string;
  /** Calls whose request has this prompt go through the script. */
  script(prompt: string, script: Script): void;
  stop(): Promise<void>;
}

type Activity = (input: { readonly request?: { readonly prompt?: string } }) => Promise<unknown>;

const PAID_TYPES: readonly string[] = [ACTIVITY.createVideo, ACTIVITY.generateImage, ACTIVITY.editImage];

export async function startFlakyWorker(
  stack: MediaStack,
  taskQueue = stack.server.uniqueId('flaky'),
): Promise<FlakyWorker> {
  const scripts = new Map<string, { readonly script: Script; attempts: number }>();
  const baseUrl = normaliseBaseUrl(stack.sandbox.url);
  const { allowedMediaOrigins, journal } = stack.config;
  const client = createMediaClient({ baseUrl, apiKey: () => SANDBOX_KEY, allowedMediaOrigins });
  const real = createMediaActivities({
    accounts: accountRegistry([{ name: accountName('default', baseUrl), client, hasKey: async () => true }]),
    artifacts: await openArtifactStore(stack.config),
    journal: await journalAt(journal),
    // One journal serves every queue of the stack, so that its fences prove as much here.
    standing: alwaysBound,
    models: createModelSource({ location: stack.sandbox.modelsUrl }),
  });
  const activities = Object.fromEntries(
    Object.entries(real as unknown as Record<string, Activity>).map(([type, run]): [string, Activity] => [
      type,
      (input) => {
        const scripted = PAID_TYPES.includes(type) ? scripts.get(input.request?.prompt ?? '') : undefined;
        return scripted === undefined ? run(input) : scripted.script(() => run(input), ++scripted.attempts);
      },
    ]),
  );
  const worker = await Worker.create({
    connection: stack.server.nativeConnection,
    namespace: stack.server.namespace,
    taskQueue,
    // What is under way is finished, as the package's own worker does.
    shutdownGraceTime: '75 seconds',
    activities,
  });
  const running = worker.run();
  running.catch(() => undefined);
  return {
    taskQueue,
    script: (prompt, script) => void scripts.set(prompt, { script, attempts: 0 }),
    stop: async () => {
      worker.shutdown();
      await running;
      await client.close();
    },
  };
}
