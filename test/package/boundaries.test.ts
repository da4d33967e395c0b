import { builtinModules } from 'node:module';
import { dirname, join } from 'node:path';
import { preProcessFile } from 'typescript';
import manifest from '../../package.json';
import { loadedAtOnce } from '../support/loaded-at-once';
import { ENTRIES, manifestOf, readSources, SOURCE_FOLDERS } from '../support/sources';
import internal from './internal.json';

interface Parsed {
  readonly path: string;
  readonly text: string;
  /** As the compiler reads them: types, `import()` and require() too. A source by its path, a package by its name. */
  readonly imports: readonly string[];
  /** Without what a function loads by require() when it is wanted, whose types `import type` names. */
  readonly atOnce: readonly string[];
  /** Names of packages as they are written. */
  readonly packages: readonly string[];
}

const raw = readSources();
const paths = new Set(raw.map(({ path }) => path));

const sources: readonly Parsed[] = raw.map(({ path, text }) => {
  const all = preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
  return {
    path,
    text,
    imports: all.map((name) => resolved(path, name)),
    atOnce: loadedAtOnce(text).map((name) => resolved(path, name)),
    packages: all.filter((name) => !name.startsWith('.')),
  };
});

/** The source that an import names; what is none of ours as it is. */
function resolved(importer: string, name: string): string {
  const entry = ENTRIES.get(name);
  if (entry !== undefined) return entry;
  const [, companion, inner] =
    /^(?:@temporal-media\/([^/]+)|temporal-media)\/internal\/(.+)$/.exec(name) ?? [];
  if (!name.startsWith('.') && inner === undefined) return name;
  const target =
    inner === undefined
      ? join(dirname(importer), name.replace(/\.js$/, ''))
      : join(companion === undefined ? 'src' : `packages/${companion}/src`, inner);
  const file = [`${target}.ts`, join(target, 'index.ts')].find((path) => paths.has(path));
  if (file === undefined) throw new Error(`${importer} imports ${name}, which is no source.`);
  return file;
}

/** Every module that a file reaches through sources of this repository, with the packages those import. */
function reach(
  entry: string,
  which: 'imports' | 'atOnce' = 'imports',
  seen = new Set<string>(),
): Set<string> {
  if (seen.has(entry)) return seen;
  seen.add(entry);
  const source = sources.find(({ path }) => path === entry);
  if (source === undefined && entry.endsWith('.ts')) throw new Error(`${entry} is no source.`);
  for (const name of source?.[which] ?? []) reach(name, which, seen);
  return seen;
}

type Graph = ReadonlyMap<string, readonly string[]>;

/** What is left once those that import no other, or that no other imports, are taken away again and again. */
function inCircles(graph: Graph): string[] {
  let left = graph;
  for (;;) {
    const links = [...left].map(([one, others]) => [one, others.filter((other) => left.has(other))] as const);
    const imported = new Set(links.flatMap(([, others]) => others));
    const kept = links.filter(([one, others]) => others.length > 0 && imported.has(one));
    if (kept.length === left.size) return [...left.keys()].sort();
    left = new Map(kept);
  }
}

/** The folder at the top of src, or the companion; a file that lies in src itself stands alone. */
const folderOf = (path: string): string => path.split('/').slice(0, 2).join('/');

function folderGraph(): Graph {
  const graph = new Map<string, string[]>();
  for (const { path, imports } of sources) {
    const folder = folderOf(path);
    const others = imports.map(folderOf).filter((other) => other !== folder);
    graph.set(folder, [...(graph.get(folder) ?? []), ...others]);
  }
  return graph;
}

/** The package of an import: `@scope/name` of `@scope/name/file`. */
const packageOf = (name: string): string =>
  name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');

/**
 * Companions that a command loads when it is wanted, and whose absence it reports. They are no optional peers: npm looks for
 * these in the registry, also where nobody wants them.
 */
const WHEN_WANTED: Readonly<Record<string, readonly string[]>> = {
  '@temporal-media/cli': ['sandbox', 'store-postgres', 'testing'].map((name) => `@temporal-media/${name}`),
};

describe('the packages', () => {
  it.each(SOURCE_FOLDERS)('%s imports only what its package.json names', (folder) => {
    const { name, dependencies, peerDependencies } = manifestOf(folder);
    const own = sources.filter(({ path }) => path.startsWith(`${folder}/`));
    const used = new Set(own.flatMap(({ packages }) => packages.map(packageOf)));
    const named = Object.keys({ ...dependencies, ...peerDependencies });
    const known = [
      name,
      ...named,
      ...(WHEN_WANTED[name] ?? []),
      ...builtinModules,
      ...builtinModules.map((one) => `node:${one}`),
    ];
    expect([...used].filter((one) => !known.includes(one))).toEqual([]);
    // It is pinned for fastify, which needs it.
    expect(named.filter((one) => !used.has(one) && one !== 'light-my-request')).toEqual([]);
  });

  it('use the inner modules of each other that are listed, and no more', () => {
    const users: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
      SOURCE_FOLDERS.map((folder) => {
        const own = sources.filter(({ path }) => path.startsWith(`${folder}/`));
        const inner = own.flatMap(({ packages }) => packages.filter((name) => name.includes('/internal/')));
        return [manifestOf(folder).name, [...new Set(inner)].sort()] as const;
      }).filter(([, inner]) => inner.length > 0),
    );
    expect(users).toEqual(internal);
  });

  it('the core imports no companion', () => {
    const core = sources.filter(({ path }) => path.startsWith('src/'));
    expect(
      core.filter(({ packages }) => packages.some((name) => name.startsWith('@temporal-media/'))),
    ).toEqual([]);
  });

  it('a companion needs the core of its own version', () => {
    for (const folder of SOURCE_FOLDERS.slice(1))
      expect(manifestOf(folder)).toMatchObject({
        version: manifest.version,
        peerDependencies: { 'temporal-media': manifest.version },
      });
  });
});

describe('the layers', () => {
  it('have no circle of files, types and import() included', () => {
    expect(inCircles(new Map(sources.map(({ path, imports }) => [path, imports])))).toEqual([]);
  });

  it('have no circle of folders', () => {
    expect(inCircles(folderGraph())).toEqual([]);
  });

  it('the domain imports nothing', () => {
    const reached = [...reach('src/domain/index.ts')];
    expect(reached.filter((name) => !name.startsWith('src/domain/'))).toEqual([]);
  });

  it('workflow code reaches the domain and @temporalio only', () => {
    const packages = [...reach('src/workflows/index.ts')].filter((name) => !name.endsWith('.ts'));
    expect(packages.sort()).toEqual(['@temporalio/common', '@temporalio/workflow']);
  });

  it('so does the code of the fake workflows', () => {
    const packages = [...reach('packages/testing/src/workflows/index.ts')].filter(
      (name) => !name.endsWith('.ts'),
    );
    expect(packages.sort()).toEqual(['@temporalio/workflow']);
  });

  it('so does the code of the workflows of notices, which shares none with those that buy', () => {
    const reached = [...reach('packages/notices/src/workflows.ts', 'atOnce')];
    expect(reached.sort()).toEqual(['@temporalio/workflow', 'packages/notices/src/workflows.ts']);
  });

  it('the sandbox shares no code with the client that it validates', () => {
    const reached = [...reach('packages/sandbox/src/index.ts')].filter((name) => name.endsWith('.ts'));
    // What it shares is not the client's: spelling, and processes of this machine.
    const shared = [
      'src/domain/near-names.ts',
      'src/domain/bug.ts',
      'src/stores/files/this-machine.ts',
      'src/stores/files/system-errors.ts',
    ];
    const others = reached.filter((name) => !name.startsWith('packages/sandbox/'));
    expect(others.filter((name) => !shared.includes(name))).toEqual([]);
  });

  it('a replay reaches no command line and nothing that is for tests', () => {
    const reached = [...reach('packages/replay/src/index.ts')];
    expect(reached.filter((name) => /^packages\/(?!replay\/)/.test(name))).toEqual([]);
  });

  it('the command line runs a worker without the sandbox and what is for tests', () => {
    for (const entry of ['main', 'worker/command', 'shared/connect', 'shared/context']) {
      const reached = [...reach(`packages/cli/src/${entry}.ts`, 'atOnce')];
      expect(reached.filter((name) => /^packages\/(?:sandbox|testing)\//.test(name))).toEqual([]);
    }
  });

  it('one file names OpenTelemetry, and no workflow code reaches it', () => {
    const named = sources.filter(({ text }) => text.includes("'@opentelemetry/")).map(({ path }) => path);
    expect(named).toEqual(['src/activities/spans.ts']);
    for (const entry of [
      'workflows/index.ts',
      'domain/index.ts',
      'client.ts',
      'activities/poll-thread.ts',
    ].map((file) => `src/${file}`))
      expect([...reach(entry)]).not.toContain(named[0]);
  });

  it('only commands load by import(), which jest refuses in the compiled package', () => {
    const loading = sources.filter(({ text }) => /(?<![`\w.])import\('/.test(text)).map(({ path }) => path);
    expect(loading.filter((path) => !path.startsWith('packages/cli/'))).toEqual([]);
  });

  it('setHandler is called in one file, which skips and refuses malformed messages', () => {
    const callers = sources.filter(({ text }) => /setHandler[<(]/.test(text)).map(({ path }) => path);
    expect(callers).toEqual(['src/workflows/handlers.ts']);
  });

  it('whatever starts a workflow writes the version into its memo', () => {
    const starts =
      /\.(?:start|execute|signalWithStart)(?:<[^(]*)?\(\s*(?:WORKFLOW|type,)|(?:startWorkflow|startChild|executeChild)(?:<[^(]*)?\((?!args|\[)/;
    const starting = sources.filter(
      ({ path, text }) => !path.startsWith('packages/cli/') && starts.test(text),
    );
    expect(starting.length).toBeGreaterThan(7);
    const without = starting.filter(({ text }) => !/STARTED_BY|temporalOptions\(/.test(text));
    expect(without.map(({ path }) => path)).toEqual([]);
  });

  it('proxyActivities is called in one file', () => {
    const callers = sources.filter(({ text }) => /proxyActivities[<(]/.test(text)).map(({ path }) => path);
    // That of the fake workflows, which run in tests of users, reaches no history that is kept. The activities of notices
    // buy nothing and have a queue of their own.
    expect(callers.filter((path) => !path.startsWith('packages/testing/')).sort()).toEqual([
      'packages/notices/src/workflows.ts',
      'src/workflows/proxies.ts',
    ]);
  });
});
