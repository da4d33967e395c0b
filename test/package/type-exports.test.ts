import { join } from 'node:path';
import ts from 'typescript';
import { ENTRIES as PATHS, ROOT } from '../support/sources';

/** The sources behind the entry points, by the names that users import. */
const ENTRIES = [...PATHS].map(([name, path]) => [name, join(ROOT, path)] as const);

interface Exported {
  readonly subpath: string;
  readonly name: string;
  /** What the name stands for, where it is declared. */
  readonly symbol: ts.Symbol;
}

describe('exported types', () => {
  let checker: ts.TypeChecker;
  let exported: readonly Exported[];
  beforeAll(() => {
    const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) => ts.sys.readFile(path)) as {
      config: object;
    };
    const { options } = ts.parseJsonConfigFileContent({ ...config, files: [], include: [] }, ts.sys, ROOT);
    const program = ts.createProgram({ rootNames: ENTRIES.map(([, file]) => file), options });
    checker = program.getTypeChecker();
    exported = ENTRIES.flatMap(([subpath, file]) => {
      const source = program.getSourceFile(file);
      const module = source && checker.getSymbolAtLocation(source);
      return (module === undefined ? [] : checker.getExportsOfModule(module)).map((one) => ({
        subpath,
        name: one.name,
        symbol: one.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(one) : one,
      }));
    });
  });

  it('their names are API, of every entry point', () => {
    const types = ENTRIES.map(([subpath]) => [
      subpath,
      exported
        // Values have a snapshot of their own.
        .filter((one) => one.subpath === subpath && (one.symbol.flags & ts.SymbolFlags.Value) === 0)
        .map(({ name }) => name)
        .sort(),
    ]);
    expect(Object.fromEntries(types)).toMatchSnapshot();
  });

  // `npm run site -- --check` finds more: methods, links that lead nowhere, types that nobody can name.
  it('every export has a docstring', () => {
    const bare = exported.filter(({ symbol }) => symbol.getDocumentationComment(checker).length === 0);
    expect(exported.length).toBeGreaterThan(ENTRIES.length);
    expect(bare.map(({ subpath, name }) => `${subpath} ${name}`)).toEqual([]);
  });
});
