import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startMediaStack, type MediaStack } from '../support/media-stack';

const run = promisify(execFile);
const ROOT = join(__dirname, '..', '..');

/** What a user's project looks like: the packed package in node_modules, and one file of workflows. */
const WORKFLOWS = `
export * from 'temporal-media/workflows';
import { workflowInfo } from '@temporalio/workflow';
import { executeVideo } from 'temporal-media/workflows';
export async function myFilm(prompt: string): Promise<string> {
  const { taskQueue } = workflowInfo();
  const outcome = await executeVideo({ request: { model: 'cine-1', prompt, durationSeconds: 2 } }, { taskQueue });
  return outcome.outcome;
}
`;

describe("a user's own workflow file", () => {
  let project: string;
  let stack: MediaStack;

  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), 'temporal-media-user-'));
    await installPacked(project);
    await writeFile(join(project, 'workflows.ts'), WORKFLOWS);
    stack = await startMediaStack();
    await stack.startWorker({ media: { workflows: { workflowsPath: join(project, 'workflows.ts') } } });
  });
  afterAll(async () => {
    await stack.stop();
    await rm(project, { recursive: true, force: true });
  });

  it("with `export * from 'temporal-media/workflows'` bundles, and runs the package's workflows", async () => {
    const started = await stack.media.startVideo({
      request: { model: 'cine-1', prompt: '[queue:0s] [run:0s] a kite', durationSeconds: 2 },
    });
    expect(await started.result()).toMatchObject({ outcome: 'completed' });
  });

  it('runs its own beside them, with ours as a child', async () => {
    const outcome: unknown = await stack.server.client.workflow.execute('myFilm', {
      taskQueue: stack.taskQueue,
      workflowId: stack.server.uniqueId('my-film'),
      args: ['[queue:0s] [run:0s] my kite'],
    });
    expect(outcome).toBe('completed');
  });
});

/** The tarball as npm publishes it, without building again; what it depends on comes from this repository. */
async function installPacked(into: string): Promise<void> {
  const modules = join(into, 'node_modules');
  await mkdir(modules, { recursive: true });
  const pack = ['pack', '--ignore-scripts', '--silent', '--pack-destination', into];
  const npm = process.env['npm_execpath'];
  const { stdout } = await (npm?.endsWith('.js')
    ? run(process.execPath, [npm, ...pack], { cwd: ROOT })
    : run('npm', pack, { cwd: ROOT, shell: process.platform === 'win32' }));
  const tarball = stdout.trim().split('\n').at(-1) ?? '';
  await run('tar', ['-xzf', tarball], { cwd: into });
  await rename(join(into, 'package'), join(modules, 'temporal-media'));
  await symlink(join(ROOT, 'node_modules', '@temporalio'), join(modules, '@temporalio'), 'junction');
}
