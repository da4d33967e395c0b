import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { cliCacheDir, type Environment } from '../../../packages/testing/src/temporal-server';

/** A home directory of its own with fake commands in it, and the environment that leads there. */
export interface FakeHome {
  readonly root: string;
  readonly env: Environment;
  readonly cacheDir: string;
  /** Writes an executable Node script; parent directories are made. */
  script(file: string, code: string): Promise<string>;
  /** Writes a command that answers `--version` like the Temporal CLI. */
  temporal(file: string, version: string): Promise<string>;
  remove(): Promise<void>;
}

/** PATH holds only `<root>/bin`, the cache is `<root>/cache`. */
export async function fakeHome(): Promise<FakeHome> {
  const root = await mkdtemp(path.join(tmpdir(), 'temporal-server-test-'));
  const env = { PATH: path.join(root, 'bin'), HOME: root, XDG_CACHE_HOME: path.join(root, 'cache') };
  const script = async (name: string, code: string): Promise<string> => {
    const file = path.resolve(root, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, `#!${process.execPath}\n${code}\n`);
    await chmod(file, 0o755);
    return file;
  };
  return {
    root,
    env,
    cacheDir: cliCacheDir(env),
    script,
    temporal: (name, version) => script(name, versionScript(version)),
    remove: () => rm(root, { recursive: true, force: true }),
  };
}

/** Code of a command that prints a version line of the Temporal CLI. */
export function versionScript(version: string): string {
  return `console.log('temporal version ' + ${JSON.stringify(version)});`;
}
