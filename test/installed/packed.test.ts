import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import manifest from '../../package.json';
import { ENTRIES, manifestOf, ROOT, SOURCE_FOLDERS } from '../support/sources';
import {
  COMMAND_LINE,
  COMPANIONS,
  type PackedPackage,
  type PackedProject,
  packedProject,
} from './support/packed-project';

const VALIDATE = join(__dirname, 'support', 'validate-package.mjs');

interface Verdict {
  readonly publint: readonly string[];
  readonly types: readonly string[];
  /** `subpath mode` → whether types, or JSON, are found there. */
  readonly resolved: Readonly<Record<string, boolean>>;
}

/** The npm page of each has these; the core has more. */
const TOPS: Readonly<Record<string, readonly string[]>> = {
  'temporal-media': ['CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'README.md', 'deploy', 'docs', 'examples'],
  '@temporal-media/cli': ['LICENSE', 'README.md', 'bin'],
  '@temporal-media/mcp': ['LICENSE', 'README.md', 'bin'],
};
const TOP = ['LICENSE', 'README.md'];

describe('the packed packages', () => {
  let project: PackedProject;
  beforeAll(async () => {
    project = await packedProject({ companions: COMPANIONS });
  });
  afterAll(() => project.remove());

  const packed = (sources: string): PackedPackage => {
    const found = project.packages.find(({ name }) => name === manifestOf(sources).name);
    if (found === undefined) throw new Error(`${sources} was not packed`);
    return found;
  };
  const filesOf = async ({ dir }: PackedPackage): Promise<string[]> =>
    (await readdir(dir, { recursive: true })).map((file) => file.replaceAll('\\', '/'));

  it.each(SOURCE_FOLDERS)('%s pleases publint and are-the-types-wrong', async (sources) => {
    const { name, tarball, dir } = packed(sources);
    const { stdout, stderr } = await project.node(VALIDATE, tarball, dir);
    expect(stderr).toBe('');
    const verdict = JSON.parse(stdout) as Verdict;
    expect(verdict).toMatchObject({ publint: [], types: [] });
    const modes = ['node10', 'node16-cjs', 'node16-esm', 'bundler'];
    const subpaths = [...ENTRIES.keys()].filter((entry) => entry === name || entry.startsWith(`${name}/`));
    const entries = [...subpaths.map((entry) => entry.replace(name, '.')), './package.json'];
    expect(verdict.resolved).toEqual(
      Object.fromEntries(entries.flatMap((entry) => modes.map((mode) => [`${entry} ${mode}`, true]))),
    );
  });

  it.each(SOURCE_FOLDERS)(
    '%s ships every source that its maps name, and neither tests nor build files',
    async (sources) => {
      const one = packed(sources);
      const files = await filesOf(one);
      const top = new Set(files.map((file) => file.split('/')[0]));
      expect([...top].sort()).toEqual([...(TOPS[one.name] ?? TOP), 'lib', 'package.json', 'src']);
      expect(files.filter((file) => /tsbuildinfo|\.test\.|__snapshots__|(?:^|\/)\./.test(file))).toEqual([]);
      for (const source of files.filter((file) => /^src\/.*\.ts$/.test(file))) {
        const built = source.replace(/^src/, 'lib').replace(/\.ts$/, '');
        for (const map of [`${built}.js.map`, `${built}.d.ts.map`]) {
          const text = await readFile(join(one.dir, map), 'utf8');
          const { sources: named } = JSON.parse(text) as { sources: string[] };
          expect(named.map((name) => join(map, '..', name).replaceAll('\\', '/'))).toEqual([source]);
        }
      }
    },
  );

  it('none names a path of the machine that packed it', async () => {
    const found: string[] = [];
    for (const one of project.packages)
      for (const file of await filesOf(one)) {
        const path = join(one.dir, file);
        if (!(await stat(path)).isFile()) continue;
        if ((await readFile(path, 'utf8')).includes(ROOT)) found.push(path);
      }
    expect(found).toEqual([]);
  });

  it('none needs an install script', () => {
    for (const sources of SOURCE_FOLDERS) {
      const scripts = Object.keys(manifestOf(sources).scripts ?? {});
      expect(scripts.filter((name) => /^(?:pre|post)?install$|^prepare$/.test(name))).toEqual([]);
    }
  });

  it('every entry point loads', async () => {
    for (const name of ENTRIES.keys())
      expect(await project.node('-e', `require('${name}')`)).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('the command runs as npm links it', async () => {
    // Links the bin entries of what lies in node_modules; nothing is fetched and no script is run.
    const linked = await project.npm('rebuild', '@temporal-media/cli', '--ignore-scripts', '--offline');
    expect(linked.exitCode).toBe(0);
    const version = await project.npm('exec', '--offline', '--no', '--', 'temporal-media', '--version');
    expect(version).toMatchObject({ exitCode: 0, stdout: `${manifest.version}\n` });
    const help = await project.npm('exec', '--offline', '--no', '--', 'temporal-media', '--help');
    expect(help.stdout).toContain('Usage: temporal-media');
    const wrong = await project.npm('exec', '--offline', '--no', '--', 'temporal-media', 'no-such-command');
    expect(wrong).toMatchObject({ exitCode: 2 });
    await project.npm('rebuild', '@temporal-media/mcp', '--ignore-scripts', '--offline');
    const mcp = await project.npm('exec', '--offline', '--no', '--', 'temporal-media-mcp', '--help');
    expect(mcp.stdout).toContain('Usage: temporal-media-mcp');
  });
});

describe('the core alone, and the command line without what only some commands need', () => {
  let project: PackedProject;
  beforeAll(async () => {
    project = await packedProject({ companions: COMMAND_LINE });
  });
  afterAll(() => project.remove());

  it('says what to install when a package is missing, and runs the rest without', async () => {
    const command = join(project.dir, 'node_modules', '@temporal-media', 'cli', 'bin', 'temporal-media.js');
    const sandbox = await project.node(command, 'sandbox');
    expect(sandbox.exitCode).toBe(78);
    expect(sandbox.stderr).toContain('npm install @temporal-media/sandbox @temporal-media/testing');
    const migrate = await project.node(command, 'journal', 'migrate', '--dry-run');
    expect(migrate.exitCode).toBe(78);
    expect(migrate.stderr).toContain('npm install @temporal-media/store-postgres\n');
    const bucket = { MEDIA_ARTIFACTS: 's3://bucket/artifacts' };
    const store = await project.nodeWith(
      bucket,
      '-e',
      `require('temporal-media/stores').openArtifactStore()`,
    );
    expect(store.stderr).toContain('npm install @temporal-media/store-s3');
    // No package would help: a database stores no artifacts.
    const database = { MEDIA_ARTIFACTS: 'postgres://media@db/media' };
    const wrong = await project.nodeWith(
      database,
      '-e',
      `require('temporal-media/stores').openArtifactStore()`,
    );
    expect(wrong.stderr).toContain('must be a folder or s3://bucket/prefix.');
  });

  it('every entry point of the core loads', async () => {
    for (const name of [...ENTRIES.keys()].filter((entry) => !entry.startsWith('@')))
      expect(await project.node('-e', `require('${name}')`)).toMatchObject({ exitCode: 0, stderr: '' });
  });
});
