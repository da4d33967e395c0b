import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system of its own that is soon full. */
export interface SmallDisk {
  readonly path: string;
  /** Leaves no byte free. */
  fill(): Promise<void>;
  free(): Promise<void>;
  readOnly(yes: boolean): void;
  remove(): void;
}

/** Mounts one in memory; undefined where this process may not mount. `options` are those of tmpfs. */
export function mountSmallDisk(options: string): SmallDisk | undefined {
  const path = mkdtempSync(join(tmpdir(), 'small-disk-'));
  const mount = (...args: string[]) => execFileSync('mount', args, { stdio: 'ignore' });
  try {
    mount('-t', 'tmpfs', '-o', options, 'tmpfs', path);
  } catch {
    rmSync(path, { recursive: true });
    // Said, and counted as 0 file systems: what needs one shows nothing then.
    process.stdout.write(
      'No small file system can be mounted by this user: full and read-only disks are left out.\n',
    );
    return undefined;
  }
  const ballast = join(path, 'ballast');
  return {
    path,
    fill: async () => {
      // What does not fit is refused, what fits stays.
      for (const size of [1024 * 1024, 65_536, 4096, 1])
        for (let full = false; !full;)
          await writeFile(ballast, Buffer.alloc(size), { flag: 'a' }).catch(() => (full = true));
    },
    free: () => rm(ballast, { force: true }),
    readOnly: (yes) => void mount('-o', `remount,${yes ? 'ro' : 'rw'}`, path),
    remove: () => {
      execFileSync('umount', ['-l', path], { stdio: 'ignore' });
      rmSync(path, { recursive: true });
    },
  };
}
