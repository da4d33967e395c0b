import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { eventually } from '../support/eventually';
import { cleanEnvironment } from './support/run-cli';

const ROOT = path.resolve(__dirname, '..', '..');

test('SIGTERM to the npx that started `dev` leaves no process behind', async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'temporal-media-npx-'));
  await mkdir(path.join(dir, 'node_modules', '.bin'), { recursive: true });
  await writeFile(path.join(dir, 'package.json'), '{"name":"project","version":"1.0.0"}');
  const cli = path.join(ROOT, 'packages', 'cli');
  await symlink(cli, path.join(dir, 'node_modules', 'cli'));
  const bin = path.join('..', 'cli', 'bin', 'temporal-media.js');
  await symlink(bin, path.join(dir, 'node_modules', '.bin', 'temporal-media'));
  const args = ['exec', '--offline', '--', 'temporal-media', 'dev', '--json', '--data-dir', 'data'];
  const npm = spawn('npm', args, {
    cwd: dir,
    env: cleanEnvironment({}),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let pids: number[] = [];
  try {
    const [line] = (await once(createInterface(npm.stdout), 'line')) as [string];
    const { data } = JSON.parse(line) as { data: { pids: Record<string, number> } };
    pids = Object.values(data.pids);
    expect(pids).toHaveLength(3);
    npm.kill('SIGTERM');
    await once(npm, 'exit');
    await eventually('every process is gone', async () => !pids.some(isThere), 60_000);
  } finally {
    for (const pid of pids.filter(isThere)) process.kill(pid, 'SIGKILL');
    await rm(dir, { recursive: true, force: true });
  }
});

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
