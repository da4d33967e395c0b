import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { SandboxAdmin } from './sandbox-admin';
import { type SandboxAddresses } from './sandbox';
import { type SandboxOptions } from './sandbox-options';

/** Options of a sandbox in a process of its own. */
export interface SandboxProcessOptions extends SandboxOptions {
  /** The child stays when this process goes away. @default false */
  detached?: boolean;
}

/** A sandbox in a process of its own. */
export interface SandboxProcess extends SandboxAddresses {
  pid: number;
  admin: SandboxAdmin;
  /** SIGTERM; resolves when the process is gone. */
  close(): Promise<void>;
}

/**
 * Starts a sandbox in a process of its own and waits until it listens. Without `detached` the child ends with this
 * process, however that ends. Throws when the package is not built or the child ends before it listens.
 */
export async function startSandboxProcess(options: SandboxProcessOptions = {}): Promise<SandboxProcess> {
  const { detached = false, ...sandbox } = options;
  const child = spawn(process.execPath, [mainFile()], {
    stdio: [detached ? 'ignore' : 'pipe', 'pipe', 'inherit'],
    detached,
    env: { ...process.env, SANDBOX_OPTIONS: JSON.stringify(sandbox), SANDBOX_DETACHED: detached ? '1' : '' },
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const first = await firstLine(child);
  const addresses = JSON.parse(first) as SandboxAddresses & { pid: number };
  if (detached) child.unref();
  return {
    ...addresses,
    admin: new SandboxAdmin(addresses.adminUrl),
    close: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('The sandbox process has no output.');
  const lines = createInterface({ input: child.stdout });
  return new Promise<string>((resolve, reject) => {
    lines.once('line', resolve);
    child.once('error', reject);
    child.once('exit', (code) =>
      reject(new Error(`The sandbox process ended with code ${code} before it listened.`)),
    );
  });
}

/** The compiled entry: beside this file, or below lib when this file runs as TypeScript under a test runner. */
function mainFile(): string {
  if (__filename.endsWith('.js')) return join(__dirname, 'main.js');
  let root = __dirname;
  while (!existsSync(join(root, 'package.json'))) root = dirname(root);
  const file = join(root, 'lib', 'testing', 'sandbox', 'main.js');
  if (!existsSync(file)) throw new Error('The sandbox is not compiled: run the build first.');
  return file;
}
