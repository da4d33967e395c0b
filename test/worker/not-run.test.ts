import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { sharedStack } from '../support/shared-stack';

const ROOT = join(__dirname, '..', '..');

/** The SDK tells a plugin nothing of a worker that it could not make. */
const PROGRAM = `
const { NativeConnection, Worker } = require('@temporalio/worker');
const { MediaPlugin } = require('./lib/plugin');
(async () => {
  const connection = await NativeConnection.connect({ address: process.env.SERVER });
  const plugins = [new MediaPlugin()];
  const options = { connection, namespace: process.env.NAMESPACE, taskQueue: 'never-run', plugins };
  await Worker.create({ ...options, workflowsPath: '/nowhere' }).then(
    () => console.log('made'),
    () => console.log('refused'),
  );
  await connection.close();
})();
`;

const stack = sharedStack({}, async () => undefined);

it('a worker that is bound and then cannot be made leaves nothing open that keeps its process alive', async () => {
  const { server, env } = await stack();
  const child = spawn(process.execPath, ['-e', PROGRAM], {
    cwd: ROOT,
    env: { ...process.env, ...env, SERVER: server.address, NAMESPACE: server.namespace },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  expect([said.trim().split('\n').at(-1), child.exitCode]).toEqual(['refused', 0]);
});
