import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { manifestOf, ROOT, SOURCE_FOLDERS } from '../../support/sources';

const run = promisify(execFile);

export interface Output {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A package as npm would publish it. */
export interface PackedPackage {
  readonly name: string;
  /** The file. */
  readonly tarball: string;
  /** Where it lies unpacked, in the node_modules of the project. */
  readonly dir: string;
}

/** A project outside this repository that has the packed packages in its node_modules. */
export interface PackedProject {
  readonly dir: string;
  /** The core, then the companions that were asked for. */
  readonly packages: readonly [PackedPackage, ...PackedPackage[]];
  write(file: string, text: string): Promise<void>;
  node(...args: readonly string[]): Promise<Output>;
  /** As {@link node}, with these variables as well. */
  nodeWith(env: NodeJS.ProcessEnv, ...args: readonly string[]): Promise<Output>;
  /** Another program, such as another Node, with these variables as well. */
  program(file: string, env: NodeJS.ProcessEnv, ...args: readonly string[]): Promise<Output>;
  npm(...args: readonly string[]): Promise<Output>;
  remove(): Promise<void>;
}

/** All companions. */
export const COMPANIONS = SOURCE_FOLDERS.slice(1).map((folder) => folder.split('/')[1] as string);
/** What the command line needs to run a worker. */
export const COMMAND_LINE = ['cli', 'notices', 'replay', 'report'];

/**
 * Packs the core and these companions without building again, and unpacks them. Beside them lie only their dependencies and
 * the peers that are not optional, linked from this repository, so that an import of anything undeclared fails; `extra`
 * names more packages.
 */
export async function packedProject({
  companions = [],
  extra = [],
}: {
  readonly companions?: readonly string[];
  readonly extra?: readonly string[];
} = {}): Promise<PackedProject> {
  // On macOS the temporary folder is a link, and Node reports real paths.
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'temporal-media-packed-')));
  const modules = join(dir, 'node_modules');
  await mkdir(modules);
  await writeFile(join(dir, 'package.json'), JSON.stringify({ name: 'scratch', private: true }));
  const folders = ['src', ...companions.map((name) => `packages/${name}/src`)];
  const [core, ...others] = await packInto(dir, folders);
  if (core === undefined) throw new Error('npm packed nothing.');
  for (const name of new Set([...folders.flatMap(needsOf), ...extra])) {
    await mkdir(dirname(join(modules, name)), { recursive: true });
    await symlink(join(ROOT, 'node_modules', name), join(modules, name), 'junction');
  }
  return {
    dir,
    packages: [core, ...others],
    write: (file, text) => writeFile(join(dir, file), text),
    node: (...args) => outputOf(process.execPath, args, dir),
    nodeWith: (env, ...args) => outputOf(process.execPath, args, dir, { env }),
    program: (file, env, ...args) => outputOf(file, args, dir, { env }),
    npm: (...args) => npm(dir, ...args),
    remove: () => rm(dir, { recursive: true, force: true }),
  };
}

async function packInto(dir: string, folders: readonly string[]): Promise<PackedPackage[]> {
  const own = folders.map((sources) => `./${dirname(sources)}`);
  const packed = await npm(ROOT, 'pack', ...own, '--ignore-scripts', '--silent', '--pack-destination', dir);
  const tarballs = packed.stdout.trim().split('\n').slice(-folders.length);
  return Promise.all(
    folders.map(async (sources, i) => {
      const { name } = manifestOf(sources);
      const tarball = join(dir, tarballs[i] ?? '');
      const place = join(dir, 'node_modules', name);
      await mkdir(place, { recursive: true });
      await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', place]);
      return { name, tarball, dir: place };
    }),
  );
}

/** Packages of others that one of ours cannot do without. */
function needsOf(sources: string): string[] {
  const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = manifestOf(sources);
  const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name] === undefined);
  return [...Object.keys(dependencies), ...peers].filter(
    (name) => !/^(?:@temporal-media\/|temporal-media$)/.test(name),
  );
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
