import { existsSync } from 'node:fs';
import path from 'node:path';
import { fromNpm } from './from-npm';

const PLATFORM = process.platform === 'win32' ? 'win' : process.platform;
const PACKAGE = `node-${PLATFORM}-${process.arch}`;

/**
 * Node of this version (`20.18.1`, or `22` for the newest of it): brought once by npm, whose package for this platform holds
 * the program, and kept. No script of the package runs.
 */
export function nodeBinary(version: string): string {
  const folder = fromNpm(`node-${version}`, `${PACKAGE}@${version}`);
  const program = path.join(folder, PACKAGE, 'bin', 'node');
  return existsSync(program) ? program : `${program}.exe`;
}
