import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import manifest from '../../../package.json';

const run = promisify(execFile);
const ROOT = join(__dirname, '..', '..', '..');

export interface Output {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A project outside this repository that has the packed package in its node_modules. */
export interface PackedProject {
  readonly dir: string;
  /** What npm would publish, as a file. */
  readonly tarball: string;
  /** The unpacked package. */
  readonly packageDir: string;
  write(file: string, text: string): Promise<void>;
  node(...args: readonly string[]): Promise<Output>;
  /** As {@link node}, with these variables as well. */
  nodeWith(env: NodeJS.ProcessEnv, ...args: readonly string[]): Promise<Output>;
  /** Another program, such as another Node, with these variables as well. */
  program(file: string, env: NodeJS.ProcessEnv, ...args: readonly string[]): Promise<Output>;
  npm(...args: readonly string[]): Promise<Output>;
  remove(): Promise<void>;
}

/**
 * Packs without building again and unpacks. Beside the package lie only its dependencies and the peers that are not
 * optional, linked from this repository, so that an import of anything undeclared fails; `extra` names more packages.
 */
export async function packedProject({
  extra = [],
}: { readonly extra?: readonly string[] } = {}): Promise<PackedProject> {
  // On macOS the temporary folder is a link, and Node reports real paths.
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'temporal-media-packed-')));
  const modules = join(dir, 'node_modules');
  await mkdir(modules);
  await writeFile(join(dir, 'package.json'), JSON.stringify({ name: 'scratch', private: true }));
  const packed = await npm(ROOT, 'pack', '--ignore-scripts', '--silent', '--pack-destination', dir);
  const tarball = join(dir, packed.stdout.trim().split('\n').at(-1) ?? '');
  await run('tar', ['-xzf', tarball], { cwd: dir });
  const packageDir = join(modules, 'temporal-media');
  await rename(join(dir, 'package'), packageDir);
  for (const name of [...Object.keys(manifest.dependencies), ...requiredPeers(), ...extra]) {
    await mkdir(dirname(join(modules, name)), { recursive: true });
    await symlink(join(ROOT, 'node_modules', name), join(modules, name), 'junction');
  }
  return {
    dir,
    tarball,
    packageDir,
    write: (file, text) => writeFile(join(dir, file), text),
    node: (...args) => outputOf(process.execPath, args, dir),
    nodeWith: (env, ...args) => outputOf(process.execPath, args, dir, { env }),
    program: (file, env, ...args) => outputOf(file, args, dir, { env }),
    npm: (...args) => npm(dir, ...args),
    remove: () => rm(dir, { recursive: true, force: true }),
  };
}

function requiredPeers(): string[] {
  const optional = Object.keys(manifest.peerDependenciesMeta);
  return Object.keys(manifest.peerDependencies).filter((name) => !optional.includes(name));
}

async function npm(cwd: string, ...args: readonly string[]): Promise<Output> {
  const script = process.env['npm_execpath'];
  return script?.endsWith('.js')
    ? outputOf(process.execPath, [script, ...args], cwd)
    : outputOf('npm', args, cwd, { shell: process.platform === 'win32' });
}

/** An exit code other than 0 is a result here, not an error. */
export async function outputOf(
  file: string,
  args: readonly string[],
  cwd: string,
  { shell = false, env: more = {} }: { readonly shell?: boolean; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<Output> {
  // What jest and npm set for this process must not change what a user's process would do.
  const own = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(?:NODE_OPTIONS|NODE_PATH|INIT_CWD|npm_)/.test(name)),
  );
  const env = { ...own, ...more };
  try {
    const { stdout, stderr } = await run(file, args, { cwd, env, shell, maxBuffer: 64 * 1024 * 1024 });
    return { exitCode: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout = '', stderr = '' } = error as { code?: unknown; stdout?: string; stderr?: string };
    if (typeof code !== 'number') throw error;
    return { exitCode: code, stdout, stderr };
  }
}
