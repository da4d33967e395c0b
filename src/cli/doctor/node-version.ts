import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isOlder } from '../../older-version';
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

function enginesOfPackage(): string {
  const file = join(__dirname, '..', '..', '..', 'package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { engines: { node: string } }).engines.node;
}
