import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { cachedFolder } from '../../languages/support/cache-folder';

const PLATFORM = process.platform === 'win32' ? 'win' : process.platform;
const PACKAGE = `node-${PLATFORM}-${process.arch}`;

/**
 * Node of this version (`20.18.1`, or `22` for the newest of it): brought once by npm, whose package for this platform holds
 * the program, and kept. No script of the package runs.
 */
export function nodeBinary(version: string): string {
  const folder = cachedFolder(`node-${version}`, `${PACKAGE}@${version}`, (dir) => {
    const args = ['install', '--prefix', dir, '--no-save', '--ignore-scripts', `${PACKAGE}@${version}`];
    execFileSync('npm', args, { stdio: 'pipe', shell: process.platform === 'win32' });
  });
  const program = path.join(folder, 'node_modules', PACKAGE, 'bin', 'node');
  return existsSync(program) ? program : `${program}.exe`;
}
