import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Check, failed, type Finding, ok } from './check';

/** Whether this process runs a Node that the package allows. */
export const nodeVersion: Check = {
  name: 'node',
  title: 'Node',
  after: [],
  limitMs: 1_000,
  late: 'unexpected',
  run: async () => judgeNodeVersion(process.version, enginesOfPackage()),
};

/** @param engines `>=MAJOR.MINOR.PATCH`, as package.json has it */
export function judgeNodeVersion(version: string, engines: string): Finding {
  const wanted = engines.replace(/^>=\s*/, '');
  if (!isOlder(version, wanted)) return ok(`${version.replace(/^v/, '')} (at least ${wanted} is needed)`);
  return failed('node_version', `This is Node ${version.replace(/^v/, '')}; at least ${wanted} is needed.`);
}

/** Compares up to three numbers; what follows them (a pre-release) is left aside. */
export function isOlder(version: string, than: string): boolean {
  const [left, right] = [numbersOf(version), numbersOf(than)];
  for (const index of [0, 1, 2]) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

function numbersOf(version: string): readonly number[] {
  return (/\d+(?:\.\d+){0,2}/.exec(version)?.[0] ?? '').split('.').map(Number);
}

function enginesOfPackage(): string {
  const file = join(__dirname, '..', '..', '..', 'package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { engines: { node: string } }).engines.node;
}
