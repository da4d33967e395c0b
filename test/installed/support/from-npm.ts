import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { cachedFolder } from '../../languages/support/cache-folder';

/** `node_modules` of a folder outside the tree that npm fills once with these packages; no script of them runs. */
export function fromNpm(name: string, ...packages: readonly string[]): string {
  const folder = cachedFolder(name, packages.join(' '), (dir) => {
    const args = ['install', '--prefix', dir, '--no-save', '--ignore-scripts', ...packages];
    execFileSync('npm', args, { stdio: 'pipe', shell: process.platform === 'win32' });
  });
  return path.join(folder, 'node_modules');
}
