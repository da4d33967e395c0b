import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * A text that stays the same while the process lives and differs for a later process of the same id, or null when
 * no such process runs. Ids alone are not enough: a container that starts again hands out the same small numbers.
 */
export async function processIdentity(pid: number): Promise<string | null> {
  if (!exists(pid)) return null;
  if (process.platform === 'linux') return linuxIdentity(pid);
  if (process.platform === 'win32') return 'alive';
  try {
    const { stdout } = await run('ps', ['-o', 'lstart=', '-p', String(pid)]);
    return stdout.trim() || null;
  } catch {
    return null;
  }
}

async function linuxIdentity(pid: number): Promise<string | null> {
  try {
    const [boot, stat] = await Promise.all([
      readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
      readFile(`/proc/${pid}/stat`, 'utf8'),
    ]);
    // The command in parentheses may hold blanks: count the fields behind it. State is the 3rd, start time the 22nd.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? null : `${boot.trim()}/${fields[19]}`;
  } catch {
    return null;
  }
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
