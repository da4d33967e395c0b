import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Path of this package's workflow code for bundling: compiled when installed, the source when run from sources. */
export function packagedWorkflows(): string {
  const compiled = join(__dirname, 'workflows', 'index.js');
  return existsSync(compiled) ? compiled : join(__dirname, 'workflows', 'index.ts');
}
