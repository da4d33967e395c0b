import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { type WorkflowFailedError } from '@temporalio/client';
import { type CompletedVideo, type VideoOutcome } from '../../../src/domain';
import { problemsOf, DOCUMENTS } from '../../cli/schemas/documented';
import { startMediaStack, type MediaStack } from '../../support/media-stack';
import { resetWorkflow } from '../../support/reset-workflow';
import { describeWhere, type Language, type Programs } from './programs';

const SCHEMAS = path.resolve(__dirname, '..', '..', '..', 'packages', 'cli', 'lib', 'schemas');
const request = { model: 'cine-1', prompt: 'a kite over the sea', durationSeconds: 2 };

/**
 * Programs of another language buy videos of real workers: a workflow whose child is `generateVideo`, and a client that
 * starts it. Both validate what they send and what comes back by the JSON Schemas of the package.
 */
export function itBuysFilms(language: Language): void {
  const describe = describeWhere(`${language.name} with its packages`, () => language.fetch());
  describe(`a workflow and a client in ${language.name}`, () => {
    let programs: Programs;
    let stack: MediaStack;
    let worker: ChildProcess;
    let queue: string;
    let env: NodeJS.ProcessEnv;
    const accepted = async () => (await stack.sandbox.admin.counters()).creates.accepted;
    const order = (id: string, asked: object = request) =>
      stack.server.client.workflow.start('orderFilm', {
        taskQueue: queue,
        workflowId: `parent-of-${id}`,
        args: [id, asked, stack.taskQueue],
      });

    beforeAll(async () => {
      programs = language.programs();
      stack = await startMediaStack({ sandbox: { timing: { queuedMs: 0, runningMs: 200 } } });
      await stack.startWorker();
      queue = stack.server.uniqueId('films');
      const { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE } = stack.env;
      env = { ...process.env, TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, MEDIA_SCHEMAS: SCHEMAS };
      worker = await startWorker(programs.worker(queue), env);
    });
    afterAll(async () => {
      await stopWorker(worker);
      await stack.stop();
    });

    it('buys a film once, and the same one after a reset of the workflow', async () => {
      const before = await accepted();
      const id = stack.server.uniqueId('order');
      const first = (await (await order(id)).result()) as CompletedVideo;
      expect(first).toMatchObject({ outcome: 'completed', artifact: { mediaType: 'video/mp4' } });
      expect(problemsOf(DOCUMENTS['video-outcome'], first)).toEqual([]);
      const again = await resetWorkflow(stack.server, `parent-of-${id}`);
      expect(await again.result()).toMatchObject({ video: first.video, artifact: first.artifact });
      expect(await accepted()).toBe(before + 1);
    });

    it('reads how a film ended that did not complete', async () => {
      const asked = { ...request, prompt: 'x [fail:moderation]' };
      const outcome = (await (await order(stack.server.uniqueId('order'), asked)).result()) as VideoOutcome;
      expect(outcome).toMatchObject({ outcome: 'failed', error: { kind: 'moderation' }, retryable: false });
    });

    it('refuses an input that is not valid by the schema: no child is started', async () => {
      const before = await accepted();
      const id = stack.server.uniqueId('order');
      const misspelt = await order(id, { ...request, seconds: 2 });
      const failure = (await misspelt.result().catch((error: unknown) => error)) as WorkflowFailedError;
      expect(failure.cause).toMatchObject({ type: 'ValidationError' });
      const { events } = await misspelt.fetchHistory();
      expect(events?.some((event) => event.startChildWorkflowExecutionInitiatedEventAttributes != null)).toBe(
        false,
      );
      expect(await accepted()).toBe(before);
    });

    it('its client starts an order twice and gets one film', async () => {
      const before = await accepted();
      const id = stack.server.uniqueId('order');
      const start = async () => {
        const [command = '', ...args] = programs.start(id, stack.taskQueue);
        const { stdout } = await promisify(execFile)(command, args, { env });
        return JSON.parse(stdout) as CompletedVideo;
      };
      const films = await Promise.all([start(), start()]);
      expect(films.map(({ outcome }) => outcome)).toEqual(['completed', 'completed']);
      // After the first workflow has ended too.
      films.push(await start());
      expect(new Set(films.map(({ video }) => video.taskId)).size).toBe(1);
      expect(await accepted()).toBe(before + 1);
    });
  });
}

/** Resolves when it says that it is ready. */
async function startWorker(
  [command = '', ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<ChildProcess> {
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`The worker ended with ${String(code)}.`);
  });
  await Promise.race([once(lines, 'line'), ended]);
  ended.catch(() => undefined);
  return child;
}

async function stopWorker(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
