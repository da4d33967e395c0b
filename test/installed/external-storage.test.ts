import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Client } from '@temporalio/client';
import { type S3Server, startS3 } from '../../scripts/stores/s3';
import { type CliReply } from '../cli/support/run-cli';
import { describeWithS3, newBucket } from '../store-servers/support/s3';
import { storedIn } from '../support/file-driver';
import { type MediaStack, startMediaStack } from '../support/media-stack';
import { ownNamespace } from '../support/temporal';
import { COMMAND_LINE, outputOf, packedProject, type PackedProject } from './support/packed-project';

const SDK = ['activity', 'client', 'common', 'envconfig', 'nexus', 'worker', 'workflow'];

describeWithS3()('external storage in a project of npm', () => {
  let packed: PackedProject;
  let stack: MediaStack;
  let server: S3Server;
  beforeAll(async () => {
    [packed, stack, server] = await Promise.all([
      packedProject({ companions: [...COMMAND_LINE, 'store-s3'] }),
      // Commands of other tests list what is in their namespace, and have no storage.
      ownNamespace().then((temporal) => startMediaStack({ temporal })),
      startS3(),
    ]);
  });
  afterAll(async () => {
    await stack?.stop();
    await server?.stop();
    await packed?.remove();
  });

  it('names each package that is missing, and works when all are there', async () => {
    const dir = join(packed.dir, 'installed');
    await mkdir(dir);
    const files: Record<string, string> = {};
    for (const { name, tarball } of packed.packages) {
      await copyFile(tarball, join(dir, basename(tarball)));
      files[name] = `file:./${basename(tarball)}`;
    }
    const sdk = Object.fromEntries(SDK.map((name) => [`@temporalio/${name}`, '^1.24.0']));
    const dependencies = { ...files, ...sdk, 'nexus-rpc': '^0.0.3' };
    await writeFile(join(dir, 'package.json'), JSON.stringify({ dependencies, overrides: files }));
    const env = {
      ...stack.env,
      ...server.env,
      MEDIA_EXTERNAL_STORAGE: `s3://${await newBucket(server)}`,
    };
    const install = async (...names: readonly string[]) => {
      const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...names];
      expect(await outputOf('npm', args, dir)).toMatchObject({ exitCode: 0 });
    };
    const command = async (how: NodeJS.ProcessEnv, ...args: readonly string[]) => {
      const bin = join('node_modules', '@temporal-media', 'cli', 'bin', 'temporal-media.js');
      const { stdout } = await outputOf(process.execPath, [bin, ...args, '--json'], dir, { env: how });
      return JSON.parse(stdout) as CliReply;
    };
    const doctor = async () => {
      const { data } = await command(env, 'doctor');
      return (data?.['checks'] as readonly { readonly name: string }[]).find(
        ({ name }) => name === 'payloads',
      );
    };
    const failed = (message: string) => ({
      state: 'failed',
      message: expect.stringContaining(message) as unknown,
    });
    await install();
    expect(await doctor()).toMatchObject(failed('npm install @temporalio/external-storage-s3'));
    // A campaign with its memo in a storage that this project does not know.
    const { client, namespace } = stack.server;
    const dataConverter = storedIn(join(dir, 'payloads'));
    const other = new Client({ connection: client.connection, namespace, dataConverter });
    const workflowId = stack.server.uniqueId('rows');
    await other.workflow.start('runCampaign', { workflowId, taskQueue: 'none', memo: { note: 'kept' } });
    const listed = await command(stack.env, 'campaign', 'list');
    expect(listed.error).toMatchObject({
      message: expect.stringContaining('external storage') as unknown,
      type: 'payload_unreadable',
      hint: expect.stringContaining('npm install protobufjs@^8.7.1') as unknown,
    });
    await install('@temporalio/external-storage-s3@^1.22.0');
    expect(await doctor()).toMatchObject(failed('npm install protobufjs@^8.7.1'));
    await install('protobufjs@^8.7.1');
    expect(await doctor()).toMatchObject({ state: 'ok' });
    const now = await command(stack.env, 'campaign', 'list');
    expect(JSON.stringify(now.data)).toContain(workflowId);
  }, 300_000);
});
