import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { accepted } from '../support/accepted';
import { type MediaStack, startMediaStack } from '../support/media-stack';
import { FAULTS, faultyPlace, throughFault } from '../worker/support/startup-faults';
import { BUNDLERS } from './support/bundlers';
import { type PackedProject, packedProject } from './support/packed-project';

const WORKFLOWS = `
const { proxyActivities } = require('@temporalio/workflow');
const { say } = proxyActivities({ startToCloseTimeout: '1 minute' });
exports.rehearsal = async () => say('rehearsed');`;

/** A worker of a user in a process of its own; its environment comes by message, so that a fault can be mended. */
const WORKER = `
const { NativeConnection, Worker, bundleWorkflowCode } = require('@temporalio/worker');
const { MediaPlugin } = require('temporal-media/plugin');

const env = {};
const media = new MediaPlugin({ env });
let worker;

async function start(root) {
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace, MEDIA_TASK_QUEUE: taskQueue } = env;
  const connection = await NativeConnection.connect({ address });
  const workflowBundle = await bundleWorkflowCode({ workflowsPath: root + '/workflows.cjs', plugins: [media] });
  const activities = { say: async (word) => word };
  worker = await Worker.create({ workflowBundle, activities, connection, namespace, taskQueue, plugins: [media] });
  process.send({ made: true });
  await worker.run();
  await connection.close();
  process.disconnect();
}

process.on('disconnect', () => process.exit());
process.on('message', async ({ set, root, isReady, stop }) => {
  if (set) for (const name of Object.keys({ ...env, ...set })) name in set ? (env[name] = set[name]) : delete env[name];
  if (root) start(root).catch((error) => process.send({ failed: error.name + ': ' + error.message }));
  if (isReady) process.send({ isReady: await media.isReady() });
  if (stop) worker.shutdown();
});`;

interface Answer {
  readonly made?: boolean;
  readonly isReady?: boolean;
  readonly failed?: string;
}

async function ask(child: ChildProcess, question: object): Promise<Answer> {
  const answered = once(child, 'message');
  child.send(question);
  const [answer] = (await answered) as [Answer];
  return answer;
}

describe('a worker of a user in a bundle', () => {
  let project: PackedProject;
  let stack: MediaStack;

  beforeAll(async () => {
    [project, stack] = await Promise.all([
      packedProject(),
      startMediaStack({ sandbox: { timing: { queuedMs: 0, runningMs: 200 } } }),
    ]);
    await project.write('workflows.cjs', WORKFLOWS);
    await project.write('main.cjs', WORKER);
    for (const bundle of Object.values(BUNDLERS))
      expect(await bundle(project, 'main.cjs', true)).toMatchObject({ exitCode: 0 });
  });
  afterAll(async () => {
    await stack.stop();
    await project.remove();
  });

  const startBundle = (bundler: string): ChildProcess =>
    fork(join(project.dir, 'dist', `${bundler}.js`), {
      cwd: project.dir,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });

  // The faults are those of a worker that is not bundled; webpack plays one of them.
  const PLAYED = FAULTS.map((fault, index) => ({
    bundler: index === 0 ? 'webpack' : 'esbuild',
    fault,
    what: fault.what,
  }));

  it.concurrent.each(PLAYED)(
    '$bundler, $what: their own workflows go on, a paid call waits and is sent when it is mended',
    async ({ bundler, fault }) => {
      const taskQueue = stack.server.uniqueId('bundled');
      const place = await faultyPlace(fault, stack, taskQueue);
      const set = () => ({ ...place.env, MEDIA_TASK_QUEUE: taskQueue });
      const child = startBundle(bundler);
      try {
        expect(await ask(child, { set: set(), root: project.dir })).toEqual({ made: true });
        const prompt = await throughFault(stack, fault, {
          client: stack.server.client,
          taskQueue,
          mend: async () => {
            await place.mend();
            child.send({ set: set() });
          },
          isReady: async () => (await ask(child, { isReady: true })).isReady === true,
        });
        child.send({ stop: true });
        expect(await once(child, 'exit')).toEqual([0, null]);
        expect(await accepted(stack, prompt)).toBe(1);
      } finally {
        child.kill('SIGKILL');
        await place.remove();
      }
    },
  );

  it.concurrent.each(Object.keys(BUNDLERS))(
    '%s: one that contains this package is refused, with what stays out of it',
    async (name) => {
      const bundled = await BUNDLERS[name as 'esbuild'](project, 'main.cjs', false);
      expect(bundled).toMatchObject({ exitCode: 0 });
      const child = startBundle(name);
      const { failed } = await ask(child, { set: stack.env, root: project.dir });
      child.kill('SIGKILL');
      expect(failed).toMatch(
        /^WorkerSetupError: temporal-media was bundled .*`external` or webpack's `externals`/,
      );
    },
  );
});
