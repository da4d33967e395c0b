import { basename } from 'node:path';
import ts from 'typescript';
import { readSources } from '../support/sources';
import known from './size.json';

/** The sources of all packages, parsed; what stands in size.json may only fall. */
const sources = readSources().map(({ path, text }) =>
  ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true),
);

const linesOf = (node: ts.Node, file: ts.SourceFile): number =>
  file.getLineAndCharacterOfPosition(node.end).line -
  file.getLineAndCharacterOfPosition(node.getStart(file)).line +
  1;
const lengths = sources.map((file) => file.text.split('\n').length - 1);

/** Names that a file has which another file had before: one of two files is in it once, one of three twice. */
function again(namesOf: (file: ts.SourceFile) => readonly string[]): string[] {
  const seen = new Set<string>();
  return sources.flatMap((file) =>
    [...new Set(namesOf(file))].filter((name) => seen.has(name) || !seen.add(name)),
  );
}

/** Names that a file declares and exports; what it exports again from elsewhere is not its own. */
function exported(file: ts.SourceFile): string[] {
  return file.statements.flatMap((statement) => {
    const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : undefined;
    if (modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) !== true) return [];
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.map(({ name }) => name.getText(file));
    const { name } = statement as ts.DeclarationStatement;
    return name === undefined ? [] : [name.text];
  });
}

/** Functions with more lines than fit on two screens: the file, the name, and how many. */
function longFunctions(file: ts.SourceFile): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const lines = ts.isFunctionLike(node) ? linesOf(node, file) : 0;
    const { name } = node as ts.FunctionDeclaration;
    if (lines > 80) found.push(`${file.fileName} ${name?.getText(file) ?? 'a function'} ${lines}`);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** The list is of what there is: what is new has to go, and what is gone goes from the list. */
function expectListed(found: readonly string[], lists: Readonly<Record<string, readonly string[]>>): void {
  expect([...found].sort()).toEqual(Object.values(lists).flat().sort());
}

describe('the house', () => {
  it('no two files export one name', () => expectListed(again(exported), known.exportedTwice));

  it('no two files have one name', () => {
    const free = ['index', 'errors', 'options', 'command', 'run', 'text'];
    const names = again(({ fileName }) => [basename(fileName, '.ts')]);
    expectListed(
      names.filter((name) => !free.includes(name)),
      known.namedTwice,
    );
  });

  it('no file has fewer than 40 lines', () => {
    const short = sources.filter((_, i) => (lengths[i] as number) < 40).map(({ fileName }) => fileName);
    expectListed(short, known.under40Lines);
  });

  it('no function has more than 80 lines', () => {
    expect(sources.flatMap(longFunctions)).toEqual([]);
  });

  it('no file is over 400 lines, and half of them are not short', () => {
    expect(sources.filter((_, i) => (lengths[i] as number) > 400)).toEqual([]);
    const ordered = [...lengths].sort((a, b) => a - b);
    expect(ordered[ordered.length >> 1]).toBeGreaterThanOrEqual(known.medianLines);
  });
});
