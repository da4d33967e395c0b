import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { accepted } from '../support/accepted';
import { startMediaStack, type MediaStack } from '../support/media-stack';
import { type Installer, installers } from './support/installers';
import { COMMAND_LINE, outputOf, packedProject, type PackedProject } from './support/packed-project';

const WORKFLOWS = `
const { workflowInfo } = require('@temporalio/workflow');
const { mediaActivities } = require('temporal-media/workflows');

exports.poster = async (prompt) =>
  mediaActivities({ taskQueue: workflowInfo().taskQueue }).generateImage({ model: 'image-2', prompt, size: '1024x1024' });`;

const MAIN = `
const { readFile } = require('node:fs/promises');
const { join } = require('node:path');
const { Client, Connection } = require('@temporalio/client');
const { DefaultLogger, NativeConnection, Runtime, Worker } = require('@temporalio/worker');
const { MediaPlugin } = require('temporal-media/plugin');
const { openArtifactStore } = require('temporal-media/stores');

async function main(prompt) {
  Runtime.install({ logger: new DefaultLogger('WARN') });
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace, MEDIA_TASK_QUEUE: taskQueue } = process.env;
  const connection = await NativeConnection.connect({ address });
  const worker = await Worker.create({ connection, namespace, taskQueue, workflowsPath: join(__dirname, 'workflows.cjs'), plugins: [new MediaPlugin()] });
  const clientConnection = await Connection.connect({ address });
  const { workflow } = new Client({ connection: clientConnection, namespace });
  const { outcome, images } = await worker.runUntil(workflow.execute('poster', { taskQueue, workflowId: taskQueue, args: [prompt] }));
  await clientConnection.close();
  await connection.close();
  const file = await (await openArtifactStore()).localPath(images[0]);
  const kept = await readFile(file);
  console.log(JSON.stringify({ outcome, same: kept.length === images[0].bytes }));
}
main(process.argv[2]);`;

/** By name, and the file that is installed. */
const PACKAGES = ['temporal-media', ...COMMAND_LINE.map((name) => `@temporal-media/${name}`)].map(
  (name) => [name, `${name.replace('@', '').replace('/', '-')}.tgz`] as const,
);

const FILES = Object.fromEntries(PACKAGES.map(([name, file]) => [name, `file:./${file}`]));

/** The install lines of the README. */
const PEERS = ['activity', 'client', 'common', 'envconfig', 'nexus', 'worker', 'workflow'];
const DEPENDENCIES = {
  ...FILES,
  ...Object.fromEntries(PEERS.map((name) => [`@temporalio/${name}`, '^1.24.0'])),
  'nexus-rpc': '^0.0.3',
};
/** Our packages need each other, and are in no registry: the words of npm and Bun, of Yarn, of pnpm. */
const INSTEAD = { overrides: FILES, resolutions: FILES, pnpm: { overrides: FILES } };

describe('a project of each installer', () => {
  let packed: PackedProject;
  let stack: MediaStack;
  beforeAll(async () => {
    [packed, stack] = await Promise.all([packedProject({ companions: COMMAND_LINE }), startMediaStack()]);
  });
  afterAll(async () => {
    await stack.stop();
    await packed.remove();
  });

  async function project({ name, files, install }: Installer) {
    const dir = join(packed.dir, 'installed', name.replaceAll(/\W+/g, '-'));
    await mkdir(dir, { recursive: true });
    for (const { name, tarball } of packed.packages)
      await copyFile(tarball, join(dir, PACKAGES.find(([one]) => one === name)?.[1] ?? ''));
    const manifest = JSON.stringify({
      name: 'scratch',
      private: true,
      dependencies: DEPENDENCIES,
      ...INSTEAD,
    });
    const own = { 'package.json': manifest, 'workflows.cjs': WORKFLOWS, 'main.cjs': MAIN };
    for (const [file, text] of Object.entries({ ...own, ...files })) await writeFile(join(dir, file), text);
    const taskQueue = stack.server.uniqueId('installed');
    const places = { MEDIA_TASK_QUEUE: taskQueue, MEDIA_DATA_DIR: join(dir, 'data') };
    const stores = {
      MEDIA_JOURNAL: join(dir, 'data', 'journal'),
      MEDIA_ARTIFACTS: join(dir, 'data', 'artifacts'),
    };
    const env = {
      ...stack.env,
      ...places,
      ...stores,
      PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
    };
    const command = ([file = '', ...given]: readonly string[], ...more: readonly string[]) =>
      outputOf(file, [...given, ...more], dir, { env });
    expect(await command(install)).toMatchObject({ exitCode: 0 });
    return command;
  }

  it.each(installers())(
    '$name: one image is bought by a worker with a workflow of its own, and doctor finds everything',
    async (installer) => {
      const command = await project(installer);
      const prompt = `a poster, installed by ${installer.name}`;
      const bought = await command(installer.node, 'main.cjs', prompt);
      expect(bought).toMatchObject({
        exitCode: 0,
        stdout: expect.stringContaining('{"outcome":"completed","same":true}') as string,
      });
      expect(await accepted(stack, prompt)).toBe(1);
      const doctor = await command(installer.exec, 'temporal-media', 'doctor', '--json');
      const { data } = JSON.parse(doctor.stdout) as {
        data: { checks: readonly { name: string; state: string }[] };
      };
      // Its worker has ended, which the server knows at once since it has worker heartbeats.
      const failed = data.checks.filter(({ state }) => state === 'failed').map(({ name }) => name);
      expect(failed.filter((name) => name !== 'workers')).toEqual([]);
    },
    300_000,
  );
});
