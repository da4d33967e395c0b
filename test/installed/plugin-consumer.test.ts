import { startMediaStack, type MediaStack } from '../support/media-stack';
import { type PackedProject, packedProject } from './support/packed-project';

/** A user's code in ES syntax; each project gets it as it needs it. */
const WORKFLOWS = `
import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import { executeVideo } from 'temporal-media/workflows';

const { sizeOf } = proxyActivities({ startToCloseTimeout: '1 minute' });

export async function premiere(prompt) {
  const { taskQueue } = workflowInfo();
  const film = await executeVideo({ request: { model: 'cine-1', prompt, durationSeconds: 2 } }, { taskQueue });
  return { outcome: film.outcome, same: (await sizeOf(film.artifact)) === film.artifact.bytes };
}`;

const CONVERTER = `
const { CompositePayloadConverter, UndefinedPayloadConverter } = require('@temporalio/common');
const { decode, encode } = require('@temporalio/common/lib/encoding');

const own = {
  encodingType: 'json/users-own',
  toPayload: (value) => ({ metadata: { encoding: encode('json/users-own') }, data: encode(JSON.stringify(value)) }),
  fromPayload: ({ data }) => JSON.parse(decode(data)),
};
exports.payloadConverter = new CompositePayloadConverter(new UndefinedPayloadConverter(), own);`;

const MAIN = `
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { TemporalMediaClient } from 'temporal-media/client';
import { MediaPlugin } from 'temporal-media/plugin';
import { openArtifactStore } from 'temporal-media/stores';

async function main(how, root) {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace, MEDIA_TASK_QUEUE: taskQueue } = process.env;
  const media = new MediaPlugin();
  const connection = await NativeConnection.connect({ address, plugins: [media] });
  const path = join(root, 'workflows.cjs');
  const payloadConverterPath = join(root, 'converter.cjs');
  const workflows =
    how === 'prebuilt'
      ? { workflowBundle: await bundleWorkflowCode({ workflowsPath: path, payloadConverterPath, plugins: [media] }) }
      : { workflowsPath: path };
  const store = await openArtifactStore();
  const seen = [];
  const worker = await Worker.create({
    ...workflows,
    connection,
    namespace,
    taskQueue,
    dataConverter: { payloadConverterPath },
    activities: {
      async sizeOf(film) {
        const file = join(root, taskQueue + '.mp4');
        await store.fetchTo(film, file);
        return (await readFile(file)).length;
      },
    },
    interceptors: {
      activity: [({ info }) => ({ inbound: { execute: (input, next) => (seen.push(info.activityType), next(input)) } })],
    },
    plugins: [media],
  });
  const clientConnection = await Connection.connect({ address, plugins: [media] });
  const client = new Client({ connection: clientConnection, namespace, dataConverter: { payloadConverterPath }, plugins: [media] });
  const result = await worker.runUntil(async () => {
    const film = await client.workflow.execute('premiere', { taskQueue, workflowId: taskQueue, args: ['a packed kite ' + taskQueue] });
    const store = await new TemporalMediaClient(client, { taskQueue }).artifactStore();
    return { ...film, named: store.storeId !== null };
  });
  await clientConnection.close();
  await connection.close();
  const count = (type) => seen.filter((one) => one === type).length;
  console.log(JSON.stringify({ ...result, creates: count('media.createVideo'), own: count('sizeOf') }));
}
`;

/** A static import as a require. */
const commonJs = (code: string) =>
  code
    .replaceAll(/import \{([^}]*)\} from ('[^']+');/g, 'const {$1} = require($2);')
    .replaceAll(/export async function (\w+)/g, 'exports.$1 = $1;\nasync function $1');

describe('a project outside of the repository that has the packed package only', () => {
  let project: PackedProject;
  let stack: MediaStack;

  beforeAll(async () => {
    [project, stack] = await Promise.all([packedProject(), startMediaStack()]);
    await project.write('workflows.cjs', commonJs(WORKFLOWS));
    await project.write('converter.cjs', CONVERTER);
    await project.write('main.cjs', `${commonJs(MAIN)}\nmain(process.argv[2], __dirname);`);
    await project.write('main.mjs', `${MAIN}\nawait main(process.argv[2], import.meta.dirname);`);
  });
  afterAll(async () => {
    await stack.stop();
    await project.remove();
  });

  it.each([
    ['CommonJS', 'main.cjs', 'prebuilt'],
    ['CommonJS', 'main.cjs', 'run-time'],
    ['an ES module', 'main.mjs', 'prebuilt'],
    ['an ES module', 'main.mjs', 'run-time'],
  ])(
    'puts the plugin into its worker, with workflow, activity, interceptor and converter of its own: %s (%s), bundle: %s',
    async (_kind: string, file: string, how: string) => {
      const MEDIA_TASK_QUEUE = stack.server.uniqueId('packed');
      const env = { ...stack.env, MEDIA_TASK_QUEUE, MEDIA_DATA_DIR: `${stack.dataDir}/${MEDIA_TASK_QUEUE}` };
      const { exitCode, stdout, stderr } = await project.nodeWith(env, file, how);
      expect([exitCode, stderr]).toEqual([0, expect.not.stringContaining('Error')]);
      expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toEqual({
        outcome: 'completed',
        same: true,
        named: true,
        creates: 1,
        own: 1,
      });
    },
  );
});
