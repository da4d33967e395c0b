import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import manifest from '../../package.json';
import { type PackedProject, packedProject } from './support/packed-project';

const ROOT = join(__dirname, '..', '..');
const VALIDATE = join(__dirname, 'support', 'validate-package.mjs');

interface Verdict {
  readonly publint: readonly string[];
  readonly types: readonly string[];
  /** `subpath mode` → whether types, or JSON, are found there. */
  readonly resolved: Readonly<Record<string, boolean>>;
}

/** Entries that want a package which is an optional peer. */
const OPTIONAL = new Set(['./postgres', './s3', './testing']);

describe('the packed package', () => {
  let project: PackedProject;
  beforeAll(async () => {
    project = await packedProject();
  });
  afterAll(() => project.remove());

  it('pleases publint and are-the-types-wrong, with nothing ignored', async () => {
    const { stdout, stderr } = await project.node(VALIDATE, project.tarball, project.packageDir);
    expect(stderr).toBe('');
    const verdict = JSON.parse(stdout) as Verdict;
    expect(verdict).toMatchObject({ publint: [], types: [] });
    const modes = ['node10', 'node16-cjs', 'node16-esm', 'bundler'];
    expect(verdict.resolved).toEqual(
      Object.fromEntries(
        Object.keys(manifest.exports).flatMap((subpath) => modes.map((mode) => [`${subpath} ${mode}`, true])),
      ),
    );
  });

  it('ships every source that its maps name, and neither tests nor build files', async () => {
    const files = (await readdir(project.packageDir, { recursive: true })).map((file) =>
      file.replaceAll('\\', '/'),
    );
    const top = new Set(files.map((file) => file.split('/')[0]));
    expect([...top].sort()).toEqual([
      'CHANGELOG.md',
      'CONTRIBUTING.md',
      'LICENSE',
      'README.md',
      'deploy',
      'docs',
      'examples',
      'lib',
      'package.json',
      'src',
    ]);
    expect(files.filter((file) => /tsbuildinfo|\.test\.|__snapshots__|(?:^|\/)\./.test(file))).toEqual([]);
    for (const source of files.filter((file) => /^src\/.*\.ts$/.test(file))) {
      const built = source.replace(/^src/, 'lib').replace(/\.ts$/, '');
      for (const map of [`${built}.js.map`, `${built}.d.ts.map`]) {
        const { sources } = JSON.parse(await readFile(join(project.packageDir, map), 'utf8')) as {
          sources: string[];
        };
        expect(sources.map((name) => join(map, '..', name).replaceAll('\\', '/'))).toEqual([source]);
      }
    }
  });

  it('names no path of the machine that packed it', async () => {
    const found: string[] = [];
    for (const file of await readdir(project.packageDir, { recursive: true })) {
      const path = join(project.packageDir, file);
      if (!(await stat(path)).isFile()) continue;
      if ((await readFile(path, 'utf8')).includes(ROOT)) found.push(file);
    }
    expect(found).toEqual([]);
  });

  it('needs no install script', () => {
    const scripts = Object.keys(manifest.scripts);
    expect(scripts.filter((name) => /^(?:pre|post)?install$|^prepare$/.test(name))).toEqual([]);
  });

  it('runs its command as npm links it', async () => {
    // Links the bin entries of what lies in node_modules; nothing is fetched and no script is run.
    const linked = await project.npm('rebuild', 'temporal-media', '--ignore-scripts', '--offline');
    expect(linked.exitCode).toBe(0);
    const version = await project.npm('exec', '--offline', '--no', '--', 'temporal-media', '--version');
    expect(version).toMatchObject({ exitCode: 0, stdout: `${manifest.version}\n` });
    const help = await project.npm('exec', '--offline', '--no', '--', 'temporal-media', '--help');
    expect(help.stdout).toContain('Usage: temporal-media');
    const wrong = await project.npm('exec', '--offline', '--no', '--', 'temporal-media', 'no-such-command');
    expect(wrong).toMatchObject({ exitCode: 2 });
  });

  it('says what to install when an optional peer is missing, and runs the rest without', async () => {
    const command = join(project.packageDir, 'lib', 'cli', 'main.js');
    const sandbox = await project.node(command, 'sandbox');
    expect(sandbox.exitCode).toBe(78);
    expect(sandbox.stderr).toContain('npm install ');
    const migrate = await project.node(command, 'journal', 'migrate', '--dry-run');
    expect(migrate.exitCode).toBe(78);
    expect(migrate.stderr).toContain('npm install pg\n');
    const store = await project.node('-e', `require('temporal-media/s3')`);
    expect(store.stderr).toContain("Cannot find module '@aws-sdk/client-s3'");
    for (const subpath of Object.keys(manifest.exports).filter((name) => !OPTIONAL.has(name))) {
      const name = subpath.replace(/^\./, 'temporal-media');
      expect(await project.node('-e', `require('${name}')`)).toMatchObject({ exitCode: 0, stderr: '' });
    }
  });
});
