import { readFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { evidence } from '../../src/domain/paid-call';
import { createFileJournal } from '../../src/stores/journal/file-journal';
import { answers } from '../domain/create-answers';
import { billEntry } from '../support/log-entries';
import { at, CheckBench, type CheckedInvoice, images, kinds } from './money/check-bench';
import { runCli } from './support/run-cli';

const order = ({ findings }: CheckedInvoice, [, line]: readonly unknown[]): number =>
  findings.findIndex((one) => one.line === line);

describe('money check', () => {
  let bench: CheckBench;

  beforeEach(async () => {
    bench = await CheckBench.open();
  });
  afterEach(() => bench.close());

  test('an invoice that agrees with the log exits with 0, and --apply records its bills once', async () => {
    await bench.calls({ creationKey: 'a' }, { creationKey: 'b' });
    const file = await bench.invoice([`${at(0)},t0,cine-1,0.10,USD`, `${at(1)},t1,cine-1,0.1,USD`]);
    const looked = await bench.check(file);
    expect([looked.code, looked.data.findings]).toEqual([0, []]);
    expect(looked.data).toMatchObject({ lines: 2, sum: 200_000, agreed: 2, keys: 2 });
    expect(looked.data).toMatchObject({ unrecorded: 2, applied: null });
    expect(await bench.underReview()).toEqual(['a', 'b']);
    const applied = await bench.check(file, '--apply', '--by', 'ada');
    expect([applied.code, applied.data.applied]).toEqual([0, { recorded: 2, amount: 200_000 }]);
    expect(await bench.bills('a')).toMatchObject([
      {
        ...{ microUnits: 100_000, currency: 'USD', source: 'invoice', by: 'ada' },
        ...{ reference: looked.data.reference, reason: 'money check, line 2', about: 'send of a' },
      },
    ]);
    expect(await bench.underReview()).toEqual([]);
    const again = await bench.check(file, '--apply');
    expect([again.code, again.data.applied]).toEqual([0, { recorded: 0, amount: 0 }]);
    expect(await bench.bills('a')).toHaveLength(1);
  });

  test('finds each difference once, names it, and records only what is certain', async () => {
    const refused = { ...answers.rejected(0, 'moderation'), httpStatus: 400 };
    await bench.calls(
      { creationKey: 'good' },
      { creationKey: 'lost', taskId: null },
      { creationKey: 'missing' },
      { creationKey: 'dear' },
      { creationKey: 'twice' },
      { creationKey: 'credited' },
      { creationKey: 'refunded' },
      { creationKey: 'failed' },
      { creationKey: 'free', estimate: { microUnits: 0, currency: 'USD' } },
      { creationKey: 'refused', answer: refused },
      { creationKey: 'euro', estimate: { microUnits: 100_000, currency: 'EUR' } },
      { creationKey: 'elsewhere', namespace: 'staging' },
      { creationKey: 'unpriced', estimate: null },
      { creationKey: 'picture', operation: 'generate_image', model: 'image-2', answer: images },
      { creationKey: 'early', at: '2026-10-31T23:59:59.000Z' },
      { creationKey: 'billed' },
    );
    const earlier = billEntry({ about: 'send of billed', reference: 'invoice 2026-10', microUnits: 100_000 });
    await createFileJournal({ root: bench.root }).append(
      { namespace: 'default', creationKey: 'billed' },
      2,
      earlier,
    );
    const file = await bench.invoice([
      `${at(0)},t0,cine-1,0.10,USD`,
      `${at(1)},theirs,cine-1,0.10,USD`,
      `${at(59)},foreign,other-model,0.10,USD`,
      `${at(3)},t3,cine-1,0.17,USD`,
      `${at(4)},t4,cine-1,0.10,USD`,
      `${at(4)},t4,cine-1,0.10,USD`,
      `${at(5)},t5,cine-1,0.10,USD`,
      `${at(5)},t5,cine-1,0.10,USD`,
      `${at(5)},t5,cine-1,(0.10),USD`,
      `${at(6)},t6,cine-1,0.10,USD`,
      `${at(6)},t6,cine-1,-0.04,USD`,
      `${at(7)},t7,cine-1,0.10,USD`,
      `${at(10)},t10,cine-1,0.10,USD`,
      `${at(11)},t11,cine-1,0.10,USD`,
      `${at(12)},t12,cine-1,7,USD`,
      `${at(13)},,image-2,0.04,USD`,
      `${at(15)},t15,cine-1,0.10,USD`,
      `${at(16)},,,0.55,USD`,
      ',,,8.82,USD',
    ]);
    const results = path.join(bench.dir, 'results.jsonl');
    await writeFile(results, `{"outcome":"failed","taskId":"t7"}\n{"outcome":"completed","taskId":"t3"}\n`);
    const expected = [
      ['unknown', 3, null],
      ['unknown', 4, null],
      ['failed', 13, 'failed'],
      ['duplicate', 6, 'twice'],
      ['billed_before', 18, 'billed'],
      ['other_currency', 14, 'euro'],
      ['amount', 5, 'dear'],
      ['amount', 11, 'refunded'],
      ['not_billed', null, 'missing'],
      ['without_task', 19, null],
      ['image', 17, null],
      ['other_namespace', 15, null],
    ];
    const open = ['early', 'free', 'lost', 'picture', 'refused'];
    const found = await bench.check(file, '--results', results);
    expect([found.code, found.type]).toEqual([5, 'invoice_unknown_calls']);
    const sorted = (list: unknown[]) => list.map((one) => JSON.stringify(one)).toSorted();
    expect(sorted(kinds(found.data))).toEqual(
      sorted([...expected, ...open.map((key) => ['under_review', null, key])]),
    );
    expect(found.data).toMatchObject({ totalLine: 20, agreed: 3 });
    const [first, second] = found.data.findings;
    expect(first).toMatchObject({
      taskId: 'theirs',
      candidates: [{ creationKey: 'lost' }, { creationKey: 'refused' }],
    });
    expect(first?.note).toContain('Perhaps the lost reply of lost, or the refused call refused.');
    expect(second?.candidates).toBeUndefined();
    const notes: Record<string, string> = Object.fromEntries(
      found.data.findings
        .filter(({ finding }) => finding === 'under_review')
        .map(({ creationKey, note }) => [creationKey ?? '', note] as const),
    );
    expect(notes).toEqual({
      early: "not_billed: It was sent outside of the invoice's period.",
      free: 'not_billed: Its estimate is 0, and the invoice does not bill it.',
      lost: expect.stringMatching(/^unconfirmed: .*`temporal-media unconfirmed`/) as unknown,
      picture: expect.stringMatching(/^not_billed: .* image by/) as unknown,
      refused: expect.stringMatching(/^rejected_after_validation: It was refused/) as unknown,
    });

    const text = await runCli(['money', 'check', file, '--results', results], bench.env);
    expect(text.stdout).toMatch(/^unknown +3 +theirs +- +- +cine-1 .* 0\.10 USD /m);
    expect(text.stderr).toContain(
      'error: The invoice bills 2 calls that this journal did not send, 0.20 USD.',
    );

    const out = path.join(bench.dir, 'found.csv');
    const applied = await bench.check(file, '--results', results, '--apply', '--out', out);
    expect(applied.data.applied).toEqual({ recorded: 7, amount: 7_730_000 });
    expect(kinds(applied.data)).toEqual(kinds(found.data));
    const rows = (await readFile(out, 'utf8')).trimEnd().split('\n');
    expect(rows).toHaveLength(1 + found.data.findings.length);
    expect(rows[0]).toBe(
      'finding,line,task_id,creation_key,send_id,account,model,at,billed,billed_currency,expected,expected_currency,note',
    );
    expect(rows[1]).toMatch(
      /^unknown,3,theirs,,,,cine-1,\S+,0\.10,USD,,,"Perhaps the lost reply of lost, or the refused call refused\."$/,
    );
    expect((await readdir(bench.dir)).filter((name) => /part|new/.test(name))).toEqual([]);
    expect(await bench.bills('twice')).toMatchObject([
      { microUnits: 200_000, reason: 'money check, line 6 and 1 more' },
    ]);
    expect(await bench.bills('credited')).toMatchObject([{ microUnits: 100_000 }]);
    expect(await bench.bills('refunded')).toMatchObject([{ microUnits: 60_000 }]);
    expect((await bench.bills('billed')).map(({ reference }) => reference)).toEqual(['invoice 2026-10']);
    expect(await bench.bills('euro')).toEqual([]);
    expect((await bench.underReview()).toSorted()).toEqual([...open, 'euro', 'missing'].toSorted());

    const again = await bench.check(file, '--results', results, '--apply');
    expect(again.data.applied).toEqual({ recorded: 0, amount: 0 });
    expect(kinds(again.data)).toEqual(kinds(found.data));
  });

  test('a key column finds images, refused calls and lost replies, and what has a key twice', async () => {
    const refused = answers.rejected(0, 'invalid_request');
    const headers = { 'x-request-id': 'req-7' };
    const lost = { ...answers.unconfirmed(0), evidence: evidence('http_502', { httpStatus: 502, headers }) };
    await bench.calls(
      { creationKey: 'video' },
      { creationKey: 'picture', operation: 'generate_image', model: 'image-2', answer: images },
      { creationKey: 'unbilled', operation: 'generate_image', model: 'image-2', answer: images },
      { creationKey: 'refused', answer: refused },
      { creationKey: 'lost', taskId: null },
      { creationKey: 'cut', answer: lost },
    );
    const head = 'time,task_id,request_id,amount,currency';
    const lines = [
      `${at(0)},t0,key-of-video,0.10,USD`,
      `${at(1)},,key-of-picture,0.10,USD`,
      `${at(3)},x3,key-of-refused,0.10,USD`,
      `${at(4)},x4,key-of-lost,0.10,USD`,
      `${at(5)},x5,req-7,0.10,USD`,
    ];
    const file = await bench.invoice([...lines, `${at(5)},x6,key-of-video,0.10,USD`], head);
    const { code, data } = await bench.check(file, '--apply');
    expect(code).toBe(5);
    expect(kinds(data)).toEqual([
      ['unknown', 7, null],
      ...[
        ['unconfirmed', 5, 'lost'],
        ['unconfirmed', 6, 'cut'],
      ].toSorted((one, other) => order(data, one) - order(data, other)),
      ['refused', 4, 'refused'],
      ['not_billed', null, 'unbilled'],
    ]);
    expect(data.applied).toEqual({ recorded: 5, amount: 500_000 });
    expect(await bench.underReview()).toEqual(['unbilled']);
    const explained = await bench.invoice(lines, head);
    const missing = await bench.check(explained, '--apply', '--missing-are-free');
    expect(missing.data.applied).toEqual({ recorded: 1, amount: 0 });
    expect(await bench.underReview()).toEqual([]);
  });

  test.each(['$0.10', '0.10 USD', 'US$0.10'])('%s beside a column of currencies is USD', async (amount) => {
    await bench.calls({ creationKey: 'video' });
    const file = await bench.invoice([`t0,${amount},USD`], 'task_id,amount,currency');
    const { code, data } = await bench.check(file, '--total', '0.10USD');
    expect([code, data.agreed, data.sum]).toEqual([0, 1, 100_000]);
  });

  test('a line with the key of a call and another task is not about that call', async () => {
    await bench.calls({ creationKey: 'video' });
    const lines = [`${at(0)},other,key-of-video,0.10,USD`, `${at(1)},t9,,0.10,USD`];
    const file = await bench.invoice(lines, 'time,task_id,idempotency_key,amount,currency');
    const { data } = await bench.check(file, '--apply');
    expect(data.applied).toEqual({ recorded: 0, amount: 0 });
    expect(kinds(data)).toEqual([
      ['unknown', 2, null],
      ['unknown', 3, null],
      ['not_billed', null, 'video'],
    ]);
    expect(data.findings[0]?.note).toBe('It has the key of video, which bought another task.');
  });

  test.each([
    ['an empty line', ',,,0.30,USD', 4],
    ['a word instead of the time', 'Total,,,0.30,USD', 4],
    ['a word instead of the task', ',Grand total,,0.30,USD', 4],
    ['another sum', 'Total,,,0.31,USD', null],
    ['an image with the price of all others', `${at(1)},,image-2,0.30,USD`, null],
  ])('a total at the end is not billed a second time: %s', async (_, last, totalLine) => {
    await bench.calls(
      { creationKey: 'a' },
      { creationKey: 'b', estimate: { microUnits: 200_000, currency: 'USD' } },
    );
    const file = await bench.invoice([`${at(0)},t0,cine-1,0.10,USD`, `${at(1)},t1,cine-1,0.20,USD`, last]);
    const { code, data } = await bench.check(file);
    expect([code, data.totalLine, kinds(data)]).toEqual(
      totalLine === null ? [8, null, [['without_task', 4, null]]] : [0, totalLine, []],
    );
  });

  test('a corrected file replaces only the bills that it names, and a decision of a person stays', async () => {
    await bench.calls({ creationKey: 'a' }, { creationKey: 'b' });
    const first = await bench.invoice([`${at(0)},t0,cine-1,0.10,USD`, `${at(1)},t1,cine-1,0.10,USD`]);
    await bench.check(first, '--apply', '--reference', 'november');
    const reason = ['--reason', 'agreed by phone', '--by', 'ada'];
    await runCli(['money', 'settle', 'b', '--amount', '0.05', '--reference', 'call', ...reason], bench.env);
    const lines = [`${at(0)},t0,cine-1,0.08,USD`, `${at(1)},t1,cine-1,0.08,USD`];
    const corrected = await bench.invoice(lines, undefined, 'corrected.csv');
    const refused = await bench.check(corrected, '--apply', '--reference', 'november 2');
    expect([refused.code, refused.data.applied, kinds(refused.data).toSorted()]).toEqual([
      8,
      { recorded: 0, amount: 0 },
      [
        ['billed_before', 2, 'a'],
        ['billed_before', 3, 'b'],
      ],
    ]);
    const args = ['--apply', '--reference', 'november 2', '--corrects', 'november', '--tolerance', '25%'];
    const replaced = await bench.check(corrected, ...args);
    expect([replaced.data.applied, kinds(replaced.data)]).toEqual([
      { recorded: 1, amount: 80_000 },
      [['billed_before', 3, 'b']],
    ]);
    expect((await bench.bills('a')).map(({ reference, microUnits }) => [reference, microUnits])).toEqual([
      ['november', 100_000],
      ['november 2', 80_000],
    ]);
    expect((await bench.check(corrected, ...args)).data.applied).toEqual({ recorded: 0, amount: 0 });
    const shorter = await bench.invoice([`${at(1)},t1,cine-1,0.05,USD`], undefined, 'shorter.csv');
    const more = ['--apply', '--reference', 'november 3', '--corrects', 'november 2', '--since', '2026-11'];
    const left = await bench.check(shorter, ...more);
    expect(kinds(left.data)).toEqual([['not_billed', null, 'a']]);
    expect(left.data.findings[0]?.note).toBe('It still has a bill of 0.08 USD.');
    const freed = await bench.check(shorter, ...more, '--missing-are-free');
    expect([freed.code, freed.data.applied]).toEqual([0, { recorded: 1, amount: 0 }]);
    expect((await bench.check(first, '--apply', '--reference', 'november')).data.applied).toEqual({
      recorded: 0,
      amount: 0,
    });
  });

  test("the failed attempts of a retried row are in its result's ledger; what was bought before is not one", async () => {
    await bench.calls({ creationKey: 'a' }, { creationKey: 'b' }, { creationKey: 'c' }, { creationKey: 'd' });
    const results = path.join(bench.dir, 'results.jsonl');
    const line = (...attempts: readonly (readonly [task: string, outcome: string])[]): string => {
      const ledger = attempts.map(([taskId, outcome]) => ({ taskId, outcome }));
      return `${JSON.stringify({ ...ledger.at(-1), ledger })}\n`;
    };
    const retried = line(['t0', 'failed'], ['t1', 'completed']);
    // The service completed this one, and has billed it rightly.
    const rebought = line(['t2', 'content_unavailable'], ['t3', 'completed']);
    await writeFile(results, retried + rebought);
    const file = await bench.invoice([0, 1, 2, 3].map((call) => `${at(call)},t${call},cine-1,0.10,USD`));
    const { data } = await bench.check(file, '--results', results);
    expect(kinds(data)).toEqual([['failed', 2, 'a']]);
  });

  test('a bill of the same reference that a later one replaced is a difference, not a bill that is recorded', async () => {
    await bench.calls({ creationKey: 'a' });
    const file = (amount: string) => bench.invoice([`${at(0)},t0,cine-1,${amount},USD`], undefined, amount);
    const apply = ['--apply', '--tolerance', '1'];
    await bench.check(await file('0.35'), ...apply, '--reference', 'one');
    await bench.check(await file('0.40'), ...apply, '--reference', 'two', '--corrects', 'one');
    const again = await bench.check(await file('0.35'), ...apply, '--reference', 'one', '--corrects', 'two');
    expect([again.code, again.data.unrecorded, kinds(again.data)]).toEqual([
      8,
      0,
      [['billed_before', 2, 'a']],
    ]);
    expect(again.data.findings[0]?.note).toMatch(/bill of 0\.40 USD: two, .* pass another --reference\.$/);
    const free = ['--missing-are-free', '--since', '2026-11'];
    const other = await bench.invoice([`${at(1)},x,cine-1,0.10,USD`], undefined, 'other');
    const missing = await bench.check(other, ...apply, ...free, '--reference', 'one', '--corrects', 'two');
    expect([missing.data.unrecorded, kinds(missing.data)]).toEqual([
      0,
      [
        ['unknown', 2, null],
        ['not_billed', null, 'a'],
      ],
    ]);
    expect((await bench.bills('a')).map(({ reference }) => reference)).toEqual(['one', 'two']);
    // Earlier versions recorded the service's own amount behind it.
    const report = { about: 'send of a', source: 'service', reference: 't0', microUnits: 100_000 } as const;
    const key = { namespace: 'default', creationKey: 'a' };
    await createFileJournal({ root: bench.root }).append(key, 4, billEntry(report));
    const behind = await bench.check(await file('0.40'), ...apply, '--reference', 'two');
    expect([behind.data.unrecorded, kinds(behind.data)]).toEqual([0, [['billed_before', 2, 'a']]]);
  });

  test('accounts: a line is held against its own account, and of two with one task none is chosen', async () => {
    await bench.calls(
      { creationKey: 'mine', account: 'studio@11111111', taskId: 'same' },
      { creationKey: 'other', account: 'default@00000000', taskId: 'same' },
      { creationKey: 'theirs', account: 'default@00000000', taskId: 'own' },
    );
    const file = await bench.invoice([`${at(0)},same,cine-1,0.10,USD`, `${at(2)},own,cine-1,0.10,USD`]);
    const unclear = await bench.check(file, '--apply');
    expect(unclear.data.applied).toEqual({ recorded: 1, amount: 100_000 });
    expect(kinds(unclear.data).toSorted()).toEqual([
      ['several_calls', 2, 'mine'],
      ['several_calls', 2, 'other'],
    ]);
    expect((await bench.underReview()).toSorted()).toEqual(['mine', 'other']);
    const one = await bench.check(file, '--apply', '--account', 'studio');
    expect([one.data.applied, kinds(one.data)]).toEqual([
      { recorded: 1, amount: 100_000 },
      [
        ['other_account', 3, null],
        ['under_review', null, 'other'],
      ],
    ]);
  });

  test('without times and a period, says that it cannot judge what is not billed', async () => {
    await bench.calls({ creationKey: 'a' }, { creationKey: 'b' });
    const file = await bench.invoice(['t0,0.10'], 'Job ID,Net');
    const args = ['--task-column', 'Job ID', '--amount-column', 'Net', '--currency', 'usd'];
    const { code, data, stderr } = await bench.check(file, ...args);
    expect([code, kinds(data)]).toEqual([0, [['under_review', null, 'b']]]);
    expect(stderr).toContain('Calls that the invoice does not bill were not judged');
    const dated = await bench.check(file, ...args, '--since', '2026-11');
    expect([dated.code, kinds(dated.data)]).toEqual([8, [['not_billed', null, 'b']]]);
  });

  test('a semicolon file with a byte order mark, decimal commas and thousands is read as it is meant', async () => {
    await bench.calls({ creationKey: 'a', estimate: { microUnits: 1_234_560_000, currency: 'EUR' } });
    const file = path.join(bench.dir, 'rechnung.csv');
    const text = '\ufeffTask ID;Betrag;Zeit\r\nt0;1.234,56 €;2026-11-02 12:00\r\n;1.234,56 €;\r\n';
    await writeFile(file, text);
    const { code, data } = await bench.check(file, '--amount-column', 'Betrag', '--time-column', 'Zeit');
    expect([code, data.sum, data.totalLine]).toEqual([0, 1_234_560_000, 3]);
    await writeFile(file, Buffer.from(text, 'utf16le'));
    const wide = await bench.check(file, '--amount-column', 'Betrag', '--time-column', 'Zeit', '--apply');
    expect([wide.code, wide.data.applied]).toEqual([0, { recorded: 1, amount: 1_234_560_000 }]);
  });
});
