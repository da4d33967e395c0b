import { join } from 'node:path';
import ts from 'typescript';
import manifest from '../../package.json';

const ROOT = join(__dirname, '..', '..');

/** The sources behind the entry points, by subpath. */
const ENTRIES = Object.entries(manifest.exports).flatMap(([subpath, target]) =>
  typeof target === 'string'
    ? []
    : [[subpath, join(ROOT, target.types.replace(/^\.\/lib\//, 'src/').replace(/\.d\.ts$/, '.ts'))] as const],
);

describe('exported types', () => {
  it('their names are API, of every entry point', () => {
    const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) => ts.sys.readFile(path)) as {
      config: object;
    };
    const { options } = ts.parseJsonConfigFileContent({ ...config, files: [], include: [] }, ts.sys, ROOT);
    const program = ts.createProgram({ rootNames: ENTRIES.map(([, file]) => file), options });
    const checker = program.getTypeChecker();
    const types = ENTRIES.map(([subpath, file]) => {
      const source = program.getSourceFile(file);
      const symbol = source && checker.getSymbolAtLocation(source);
      const exported = symbol === undefined ? [] : checker.getExportsOfModule(symbol);
      return [
        subpath,
        exported
          .filter((one) => isTypeOnly(one, checker))
          .map(({ name }) => name)
          .sort(),
      ];
    });
    expect(Object.fromEntries(types)).toMatchSnapshot();
  });
});

/** Values have a snapshot of their own. */
function isTypeOnly(symbol: ts.Symbol, checker: ts.TypeChecker): boolean {
  const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  return (target.flags & ts.SymbolFlags.Value) === 0;
}
