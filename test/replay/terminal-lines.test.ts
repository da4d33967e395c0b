import { closingLines, wrapped } from '../../packages/cli/src/replay/text';
import { columnsOf } from '../../packages/cli/src/shared/report';

const summary = (differs: boolean, inputsDiffer: boolean) => ({
  differs: () => differs,
  inputsDiffer: () => inputsDiffer,
});
const first = (lines: readonly string[]): string[] => lines.map((line) => line.slice(0, 10));

describe('lines of replay on a terminal', () => {
  it('have the width of the terminal, and none without one', () => {
    expect(columnsOf({ isTTY: true, columns: 132 })).toBe(132);
    expect(columnsOf({ isTTY: true, columns: 0 })).toBe(80);
    expect(columnsOf({ columns: 132 })).toBe(Infinity);
  });

  it('are wrapped at words, below their indent', () => {
    const line = `  at ${'x'.repeat(50)} is one of the places`;
    expect(wrapped(line, 60)).toEqual([`  at ${'x'.repeat(50)} is`, '    one of the places']);
    expect(wrapped(line, Infinity)).toEqual([line]);
    expect(wrapped('', 60)).toEqual(['']);
  });

  it('have each note once, where it applies', () => {
    expect(closingLines(summary(false, false), {})).toEqual([]);
    expect(first(closingLines(summary(true, false), {}))).toEqual(['Options: r', '  or keep ', '  or deplo']);
    expect(first(closingLines(summary(false, true), {}))).toEqual(['If you res']);
    expect(first(closingLines(summary(false, false), { bundle: 'b.js' }))).toEqual(['A replay c']);
    expect(closingLines(summary(true, true), { verbose: true })).toHaveLength(5);
  });
});
