import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type LoadedTarget } from '@temporal-media/replay';
import { fetchChain } from '@temporal-media/replay/internal/fetch-histories';
import { type SandboxCounters } from '@temporal-media/sandbox';
import { renderImage } from '@temporal-media/sandbox/internal/render-image';
import { type ImageEditRequest, type VideoRequest, type VideoState } from 'temporal-media';
import { TemporalMediaClient, type Started } from 'temporal-media/client';
import { UPDATE } from 'temporal-media/internal/domain/names';
import { FileArtifactStore } from 'temporal-media/stores';
import { CliError } from '../shared/errors';
import { stackEnvironment, startStack } from '../shared/stack';
import { type LocalRequest } from './local-request';
import { type Scenario, type ScenarioDecision } from './scenario';

/** The environment to run a scenario in. */
export interface PlayOptions {
  /** Folder for journal, files and logs, which is deleted afterwards. */
  readonly dataDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly say: (line: string) => void;
  /** Ends the run when it resolves. */
  readonly interrupted: Promise<void>;
}

/** A run of a scenario. */
export interface PlayedRun {
  /** The run's history. */
  readonly target: LoadedTarget;
  /** The paid requests that the sandbox counted. */
  readonly paid: Pick<SandboxCounters['creates'], 'received' | 'accepted'>;
}

/** Interval between checks for a video that needs a decision, in milliseconds. */
const STATE_CHECK_MS = 250;

/** Runs a request with a scenario's faults. Starts its own server, sandbox and worker, and stops them afterwards. */
export async function playScenario(
  scenario: Scenario,
  local: LocalRequest,
  { dataDir, env, say, interrupted }: PlayOptions,
): Promise<PlayedRun> {
  const { timing, records, faults } = scenario;
  const id = `whatif-${randomBytes(4).toString('hex')}`;
  const { sandbox, client, close } = await startStack({
    env: stackEnvironment(env),
    dataDir,
    server: { namespace: 'default', onProgress: say },
    sandbox: { timing, records, faults: [...faults] },
    worker: { MEDIA_TASK_QUEUE: id },
  });
  try {
    const media = new TemporalMediaClient(client, { taskQueue: id });
    const started = await start(media, id, scenario, local, dataDir);
    const ended = started.result();
    ended.catch(() => undefined);
    const decided = decide(scenario.decisions, {
      stateOf: () => media.videoState(id),
      send: async (decision) => {
        const { evidence } = await media.videoState(id);
        const handle = client.workflow.getHandle(id);
        await handle.executeUpdate(UPDATE[decision], {
          args: [
            {
              ...(decision === 'adopt' && { taskId: (await sandbox.admin.tasks())[0]?.id }),
              sendId: evidence?.sendId,
              by: 'whatif',
              reason: 'as in the history',
            },
          ],
        });
      },
    });
    const isOver = Promise.all([ended, Promise.race([decided, ended])]).then(() => true);
    if ((await Promise.race([isOver, interrupted])) !== true) throw stopped();
    const { creates, images } = await sandbox.admin.counters();
    const { received, accepted } = local.workflow === 'generateVideo' ? creates : images;
    return { target: await fetchChain(client, id), paid: { received, accepted } };
  } finally {
    await close();
  }
}

const stopped = (): CliError =>
  new CliError('interrupted', 'Interrupted. Everything that was started has been stopped.', { hint: '' });

async function start(
  media: TemporalMediaClient,
  id: string,
  { decisions, policy, waitForMs }: Scenario,
  { workflow, request }: LocalRequest,
  dataDir: string,
): Promise<Started<unknown>> {
  if (workflow === 'generateImage') return media.images.start({ request, policy }, { id, as: 'workflow' });
  if (workflow === 'editImage') {
    const edit: ImageEditRequest = { ...request, images: [{ artifact: await anyPicture(dataDir) }] };
    return media.images.start({ request: edit, policy }, { id, as: 'workflow' });
  }
  const input = {
    request: request as VideoRequest,
    policy,
    polling: 'own' as const,
    ...(waitForMs !== null && { waitFor: waitForMs }),
    ...(decisions.length > 0 && { onUnconfirmed: 'wait' as const }),
  };
  return media.startVideo(input, { id });
}

async function anyPicture(dataDir: string) {
  const spec = {
    kind: 'image',
    model: 'input',
    prompt: 'what if',
    width: 256,
    height: 256,
    index: 0,
  } as const;
  const store = new FileArtifactStore(join(dataDir, 'artifacts'));
  return store.putBuffer(renderImage({ ...spec, inputs: [] }), { mediaType: 'image/png' });
}

/** Sends each decision as soon as the workflow needs it. */
async function decide(
  decisions: readonly ScenarioDecision[],
  on: {
    readonly stateOf: () => Promise<VideoState>;
    readonly send: (decision: ScenarioDecision) => Promise<void>;
  },
): Promise<void> {
  for (const decision of decisions) {
    for (;;) {
      const { phase } = await on.stateOf();
      if (phase === 'done') return;
      if (phase === 'unconfirmed') break;
      await delay(STATE_CHECK_MS);
    }
    await on.send(decision);
  }
}
