import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { accepted } from '../support/accepted';
import { type MediaStack, startMediaStack } from '../support/media-stack';
import { type PackedProject, packedProject } from './support/packed-project';

const ROOT = join(__dirname, '..', '..');
const TSC = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');

const ORDER = `
const { Client, Connection } = require('@temporalio/client');
const { orderFilm } = require('./client');

async function main(id, taskQueue) {
  const connection = await Connection.connect({ address: process.env.TEMPORAL_ADDRESS });
  const client = new Client({ connection, namespace: process.env.TEMPORAL_NAMESPACE });
  const { outcome } = await orderFilm(client, id, taskQueue);
  const film = await client.workflow.execute('productFilm', { taskQueue, workflowId: id + '-product', args: [id] });
  const poster = await client.workflow.execute('poster', { taskQueue, workflowId: id + '-poster', args: [id, taskQueue] });
  await connection.close();
  console.log(JSON.stringify({ outcome, film, poster: poster.outcome }));
}
main(...process.argv.slice(2));`;

/** The line of the README; the namespace is that of the test. */
const startOf = (options: string) =>
  `require('./worker').filmWorker(${options}).then((worker) => worker.run())`;
const HERE = startOf('{ namespace: process.env.TEMPORAL_NAMESPACE }');

describe('a new project that has the packed package and what stands in the README', () => {
  let project: PackedProject;
  let stack: MediaStack;

  beforeAll(async () => {
    [project, stack] = await Promise.all([
      packedProject({ extra: ['@opentelemetry/api', '@types/node'] }),
      startMediaStack(),
    ]);
  });
  afterAll(async () => {
    await stack.stop();
    await project.remove();
  });

  it('compiles, starts by the line that is given, and buys a film, a film in a workflow of its own, and a poster', async () => {
    const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
    const snippets = [...readme.matchAll(/```ts\n(\/\/ (\w+\.ts)[^]*?)```/g)];
    const files = snippets.map(([, , name]) => name ?? '');
    expect(files).toEqual(['worker.ts', 'workflows.ts', 'poster.ts', 'activities.ts', 'client.ts']);
    const folder = join(project.dir, 'films');
    await mkdir(folder);
    for (const [, text = '', name = ''] of snippets) await writeFile(join(folder, name), text);
    await writeFile(join(folder, 'workflows.ts'), `${snippets[1]?.[1]}\nexport * from './poster';\n`);
    const flags = ['--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2022'];
    const compiled = await project.node(TSC, ...flags, ...files.map((file) => join(folder, file)));
    expect(compiled).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    await writeFile(join(folder, 'order.js'), ORDER);

    const taskQueue = 'films';
    const env = { ...stack.env, MEDIA_TASK_QUEUE: taskQueue };
    expect(readme).toContain(`node -e "${startOf('')}"`);
    const worker = spawn(process.execPath, ['-e', HERE], { cwd: folder, env, stdio: 'ignore' });
    const ended = once(worker, 'exit');
    const id = stack.server.uniqueId('order');
    const ordered = await project.nodeWith(env, join(folder, 'order.js'), id, taskQueue);
    worker.kill('SIGTERM');
    expect([ordered.stderr, ordered.exitCode, await ended]).toEqual(['', 0, [0, null]]);
    expect(JSON.parse(ordered.stdout)).toEqual({
      outcome: 'completed',
      film: expect.stringContaining(stack.dataDir) as string,
      poster: 'completed',
    });
    // The film of the workflow of its own has the id as its prompt, and so has the poster.
    expect([await accepted(stack, 'a kite over the sea'), await accepted(stack, id)]).toEqual([1, 2]);
  });
});
