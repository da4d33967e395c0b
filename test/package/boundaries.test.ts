import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { preProcessFile } from 'typescript';

const SRC = resolve(__dirname, '..', '..', 'src');

interface Source {
  readonly path: string;
  readonly text: string;
  /** As the compiler reads them: types, `import()` and require() too. */
  readonly imports: readonly string[];
  /** Without what a function loads by require() when it is wanted, whose types `import type` names. */
  readonly atOnce: readonly string[];
}

const paths = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));

const sources: Source[] = paths.map((path) => {
  const text = readFileSync(join(SRC, path), 'utf8');
  const named = (code: string, withRequire: boolean): string[] =>
    preProcessFile(code, true, withRequire).importedFiles.map(({ fileName }) => resolved(path, fileName));
  const atOnce = named(text.replaceAll(/^import type .*$/gm, ''), false);
  return { path, text, imports: named(text, true), atOnce };
});

/** The file in src that a relative import names; a package as it is. */
function resolved(importer: string, name: string): string {
  if (!name.startsWith('.')) return name;
  const target = relative(SRC, resolve(SRC, dirname(importer), name.replace(/\.js$/, '')));
  const file = [`${target}.ts`, join(target, 'index.ts')].find((path) => paths.includes(path));
  if (file === undefined) throw new Error(`${importer} imports ${name}, which is no source.`);
  return file;
}

/** Every module that a file reaches through its own relative imports, with the packages those import. */
function reach(
  entry: string,
  which: 'imports' | 'atOnce' = 'imports',
  seen = new Set<string>(),
): Set<string> {
  if (seen.has(entry)) return seen;
  seen.add(entry);
  const source = sources.find(({ path }) => path === entry);
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

/** The folder at the top of src; a file that lies in src itself stands alone. */
const folderOf = (path: string): string => path.split('/')[0] as string;

function folderGraph(): Graph {
  const graph = new Map<string, string[]>();
  for (const { path, imports } of sources) {
    const folder = folderOf(path);
    const others = imports.map(folderOf).filter((other) => other !== folder);
    graph.set(folder, [...(graph.get(folder) ?? []), ...others]);
  }
  return graph;
}

describe('the layers', () => {
  it('have no circle of files, types and import() included', () => {
    expect(inCircles(new Map(sources.map(({ path, imports }) => [path, imports])))).toEqual([]);
  });

  it('have no circle of folders', () => {
    expect(inCircles(folderGraph())).toEqual([]);
  });

  it('the domain imports nothing', () => {
    const reached = [...reach('domain/index.ts')];
    expect(reached.filter((name) => !name.startsWith('domain/'))).toEqual([]);
  });

  it('workflow code reaches the domain and @temporalio only', () => {
    const packages = [...reach('workflows/index.ts')].filter((name) => !name.endsWith('.ts'));
    expect(packages.sort()).toEqual(['@temporalio/common', '@temporalio/workflow']);
  });

  it('so does the code of the fake workflows', () => {
    const packages = [...reach('testing/workflows/index.ts')].filter((name) => !name.endsWith('.ts'));
    expect(packages.sort()).toEqual(['@temporalio/workflow']);
  });

  it('the sandbox shares no code with the client that it validates', () => {
    const reached = [...reach('testing/sandbox/index.ts')].filter((name) => name.endsWith('.ts'));
    // What it shares with the other tools for tests is not the client's.
    const spelling = 'domain/near-names.ts';
    expect(reached.filter((name) => !name.startsWith('testing/') && name !== spelling)).toEqual([]);
  });

  it('production entries reach nothing that is an optional peer', () => {
    for (const entry of [
      'worker.ts',
      'plugin.ts',
      'client.ts',
      'activities/index.ts',
      'workflows/index.ts',
      'replay/index.ts',
    ]) {
      const packages = [...reach(entry, 'atOnce')].filter((name) => !name.endsWith('.ts'));
      expect(packages.filter((name) => /fastify|h264|pngjs|^pg$|@temporalio\/testing/.test(name))).toEqual(
        [],
      );
    }
  });

  it('a replay reaches no command line and nothing that is for tests', () => {
    expect([...reach('replay/index.ts')].filter((name) => /^(?:cli|testing)\//.test(name))).toEqual([]);
  });

  it('one file names OpenTelemetry, and no workflow code reaches it', () => {
    const named = sources.filter(({ text }) => text.includes("'@opentelemetry/")).map(({ path }) => path);
    expect(named).toEqual(['activities/spans.ts']);
    for (const entry of ['workflows/index.ts', 'domain/index.ts', 'client.ts', 'activities/poll-thread.ts'])
      expect([...reach(entry)]).not.toContain(named[0]);
  });

  it('only commands load by import(), which jest refuses in the compiled package', () => {
    const loading = sources.filter(({ text }) => /(?<![`\w.])import\('/.test(text)).map(({ path }) => path);
    expect(loading.filter((path) => !path.startsWith('cli/'))).toEqual([]);
  });

  it('setHandler is called in one file, which skips and refuses malformed messages', () => {
    const callers = sources.filter(({ text }) => /setHandler[<(]/.test(text)).map(({ path }) => path);
    expect(callers).toEqual(['workflows/handlers.ts']);
  });

  it('whatever starts a workflow writes the version into its memo', () => {
    const starts =
      /\.(?:start|execute|signalWithStart)(?:<[^(]*)?\(\s*(?:WORKFLOW|type,)|(?:startWorkflow|startChild|executeChild)(?:<[^(]*)?\((?!args|\[)/;
    const starting = sources.filter(({ path, text }) => !path.startsWith('cli/') && starts.test(text));
    expect(starting.length).toBeGreaterThan(7);
    const without = starting.filter(({ text }) => !/STARTED_BY|temporalOptions\(/.test(text));
    expect(without.map(({ path }) => path)).toEqual([]);
  });

  it('proxyActivities is called in one file', () => {
    const callers = sources.filter(({ text }) => /proxyActivities[<(]/.test(text)).map(({ path }) => path);
    // That of the fake workflows, which run in tests of users, reaches no history that is kept.
    expect(callers.filter((path) => !path.startsWith('testing/'))).toEqual(['workflows/proxies.ts']);
  });
});
