import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { at, CheckBench } from './money/check-bench';

describe('an invoice that money check cannot use', () => {
  let bench: CheckBench;

  beforeEach(async () => {
    bench = await CheckBench.open();
  });
  afterEach(() => bench.close());

  test.each<[string, string | Buffer, string[], RegExp]>([
    [
      'a wrong column',
      'task_id,cost,sum\nt0,1,1\n',
      ['--amount-column', 'amount'],
      /no column "amount".*Its columns: task_id, cost, sum\./,
    ],
    ['no column of tasks', 'a,amount\nt0,1\n', [], /Pass --task-column\. Its columns: a, amount\./],
    ['two columns', 'task_id,task,amount,currency\n', [], /Several columns can be the task column/],
    [
      'a cut quote',
      'task_id,amount,currency\n"t0,0.10,USD\n',
      [],
      /quote that opens in or after the row at line 2 is not closed/,
    ],
    [
      'a cut line',
      'task_id,amount,currency\nt0,0.10,USD\nt1,0.\n',
      [],
      /Line 3 has 2 fields, but the header has 3/,
    ],
    [
      'an ambiguous amount',
      'task_id,amount,currency\nt0,"1,234",USD\n',
      [],
      /Line 2: 1,234 can mean two amounts.*--decimal \. or --decimal ,/,
    ],
    [
      'two decimal marks',
      'task_id;amount;currency\nt0;0.10;USD\nt1;0,10;USD\n',
      [],
      /Line 3 writes decimals with ",", but line 2 with "\."/,
    ],
    ['no amount', 'task_id,amount,currency\nt0,,USD\n', [], /Line 2 has no amount/],
    [
      'a column of prompts as amounts',
      'task_id,amount,currency\nt0,a secret boat,USD\n',
      [],
      /Line 2: The cell in the amount column is not an amount/,
    ],
    [
      'a column of prompts as tasks',
      'task_id,amount,currency\na secret boat,1,USD\n',
      [],
      /Line 2: The cell in the task column is not an id/,
    ],
    [
      'two currencies',
      'task_id,amount,currency\nt0,1,USD\nt1,1,EUR\n',
      [],
      /Line 3 is in EUR, but line 2 in USD/,
    ],
    [
      'another currency',
      'task_id,amount\nt0,€1\n',
      ['--currency', 'USD'],
      /Line 2 is in EUR, but --currency is USD/,
    ],
    [
      'an unclear currency',
      'task_id,amount\nt0,$1\n',
      [],
      /Line 2: The currency is unknown\. Pass --currency/,
    ],
    [
      'an unreadable time',
      'task_id,amount,currency,time\nt0,1,USD,05/11/2026\n',
      [],
      /Line 2: The time cannot be read/,
    ],
    ['another sum', 'task_id,amount,currency\nt0,1,USD\n', ['--total', '2'], /add up to 1, but --total is 2/],
    [
      'a sum in another currency',
      'task_id,amount,currency\nt0,1,USD\n',
      ['--total', '1EUR'],
      /lines are in USD, but --total is in EUR/,
    ],
    [
      'a cut amount',
      'task_id,amount\nt0,0.10\nt1,0.1',
      ['--currency', 'USD', '--apply'],
      /last line has no line break/,
    ],
    ['no lines', 'task_id,amount\n', [], /The file has no lines/],
    ['an empty file', '', [], /The file has no lines/],
    ['a spreadsheet', Buffer.from('PK\u0003\u0004'), [], /The invoice is a spreadsheet file or an archive/],
    [
      'another encoding',
      Buffer.from([0x61, 0x2c, 0xe9, 0x0a]),
      [],
      /The invoice is not valid UTF-8 near line 1/,
    ],
  ])('%s is an error that names its place, and nothing is written', async (_, content, args, message) => {
    await bench.calls({ creationKey: 'a' });
    const file = path.join(bench.dir, 'invoice.csv');
    await writeFile(file, content);
    const out = path.join(bench.dir, 'found.csv');
    const { code, reply, stderr, stdout } = await bench.check(file, '--apply', '--out', out, ...args);
    expect([code, reply.error?.message]).toEqual([65, expect.stringMatching(message)]);
    expect(reply.error?.hint).toMatch(/^Nothing was written\./);
    expect(stdout + stderr).not.toContain('secret');
    expect(await bench.bills('a')).toEqual([]);
    expect(await readdir(bench.dir)).toEqual(['invoice.csv', 'journal']);
  });

  test.each([
    [['--tolerance', 'much'], /^--tolerance: must be an amount/],
    [['--currency', 'dollars'], /^--currency: must be a code/],
    [['--reference', ' '], /^--reference: must have 1 to 500 characters/],
    [['--reference', 'a', '--corrects', 'a'], /^--corrects: must be the reference of the earlier bills/],
    [['--total', '1,234'], /^--total: must be an amount/],
    [['--since', 'yesterday'], /^--since: must be a time/],
    [['--since', '2026-12', '--until', '2026-11'], /^--until: must be later than --since/],
    [['--results', '/nowhere'], /^--results: \/nowhere cannot be read/],
    [['--out', '/nowhere/found.csv'], /^--out: .* is not writable \(ENOENT\)/],
  ])('%j is refused', async (args, message) => {
    await bench.calls({ creationKey: 'a' });
    const file = await bench.invoice([`${at(0)},t9,cine-1,0.10,USD`]);
    const { code, reply } = await bench.check(file, '--apply', ...args);
    expect([code, reply.error?.message]).toEqual([
      args[0] === '--out' ? 73 : 65,
      expect.stringMatching(message),
    ]);
    expect(await bench.bills('a')).toEqual([]);
  });
});
