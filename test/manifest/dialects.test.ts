import { gzipSync } from 'node:zlib';
import { type ManifestRow } from '../../src/manifest/columns';
import { readManifest } from '../../src/manifest/read-manifest';

async function read(bytes: Uint8Array | string, format?: 'csv' | 'jsonl', piece = 3): Promise<ManifestRow[]> {
  const whole = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
  async function* pieces() {
    for (let at = 0; at < whole.length; at += piece) yield whole.subarray(at, at + piece);
  }
  const rows: ManifestRow[] = [];
  for await (const row of readManifest(pieces(), format)) rows.push(row);
  return rows;
}

const cells = (rows: readonly ManifestRow[]) =>
  rows.map(({ line, values }) => [
    line,
    Object.fromEntries([...values].map(([key, { value }]) => [key, value])),
  ]);

const utf16be = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16();

describe('CSV as spreadsheets save it', () => {
  const rows = [
    [2, { id: 'a', prompt: 'A fox; a "red" one, größer\nand fast', duration: '4' }],
    [5, { id: 'b', prompt: 'Sea' }],
  ];
  const csv = (mark: string, end: string) =>
    [
      `id${mark}prompt${mark}duration`,
      `a${mark}"A fox; a ""red"" one, größer${end}and fast"${mark}4`,
      '',
      `b${mark}Sea${mark}`,
      `${mark}${mark}`,
    ].join(end) + end;

  it.each([
    ['commas', Buffer.from(csv(',', '\n'))],
    ['semicolons', Buffer.from(csv(';', '\n'))],
    ['tabs', Buffer.from(csv('\t', '\n'))],
    ['a byte order mark of UTF-8', Buffer.from(`\ufeff${csv(',', '\n')}`)],
    ['CRLF', Buffer.from(csv(',', '\r\n'))],
    ['CR alone', Buffer.from(csv(';', '\r'))],
    ['UTF-16 little endian', Buffer.from(`\ufeff${csv('\t', '\r\n')}`, 'utf16le')],
    ['UTF-16 big endian', utf16be(csv('\t', '\r\n'))],
    ['no line end after the last row', Buffer.from(csv(',', '\n').trimEnd())],
  ])('is read with %s, whatever the pieces', async (_name, bytes) => {
    for (const piece of [1, 2, 3, 5, 4096]) expect(cells(await read(bytes, undefined, piece))).toEqual(rows);
  });

  it('takes the separator that the first line names, and counts that line', async () => {
    expect(cells(await read('sep=;\r\nid;prompt\r\na;x,y\r\n'))).toEqual([[3, { id: 'a', prompt: 'x,y' }]]);
  });

  it('reads names without regard to case, blanks and quotes, and aliases', async () => {
    const [row] = await read('"ID", Prompt ,Seconds,aspectRatio,field:Seed\na,x,4,16:9,7\n');
    expect(cells([row!])).toEqual([
      [2, { id: 'a', prompt: 'x', duration: '4', aspect_ratio: '16:9', 'field:Seed': '7' }],
    ]);
  });

  it('takes columns without a name and without values for none', async () => {
    expect(cells(await read('id,prompt,,\na,x,,\nb,y\n'))).toEqual([
      [2, { id: 'a', prompt: 'x' }],
      [3, { id: 'b', prompt: 'y' }],
    ]);
  });

  it('takes blanks around the quotes of a cell for none, and others for text', async () => {
    const text = [
      'id| prompt |"duration" ',
      'a|  "b, c; "" \t d" | 4',
      ' b |  d e |5',
      '"c"| "\n f " |6 ',
      'd|""| "" ',
      ' "e" |" "" "" "|4',
    ];
    for (const mark of [',', ';', '\t'])
      for (const piece of [1, 2, 3, 4096])
        expect(cells(await read(text.join('\n').replaceAll('|', mark), undefined, piece))).toEqual([
          [2, { id: 'a', prompt: 'b, c; " \t d', duration: ' 4' }],
          [3, { id: ' b ', prompt: '  d e ', duration: '5' }],
          [4, { id: 'c', prompt: '\n f ', duration: '6 ' }],
          [6, { id: 'd' }],
          [7, { id: 'e', prompt: ' " " ', duration: '4' }],
        ]);
  });

  it('leaves out columns whose name begins with _, once or twice', async () => {
    expect(cells(await read('id,_notes,prompt, _Notes,_notes\na,mine,x,y,"z"\n'))).toEqual([
      [2, { id: 'a', prompt: 'x' }],
    ]);
  });

  it('has no comments', async () => {
    expect(cells(await read('id,prompt\n# a,b\n'))).toEqual([[2, { id: '# a', prompt: 'b' }]]);
  });

  it('keeps a cell that a spreadsheet would run as a text', async () => {
    const [row] = await read('id,prompt\na,"=HYPERLINK(""http://x"")"\n');
    expect(row?.values.get('prompt')?.value).toBe('=HYPERLINK("http://x")');
  });
});

describe('JSON lines', () => {
  it.each(['\n', '\r\n', '\n\n  \n'])('are one object in each line, separated by %j', async (end) => {
    const text = `\ufeff{"id":"a","prompt":"x"}${end}{"id":"b","durationSeconds":4}`;
    const read2 = await read(text);
    expect(cells(read2).map(([, values]) => values)).toEqual([
      { id: 'a', prompt: 'x' },
      { id: 'b', duration: 4 },
    ]);
    expect(read2[1]?.line).toBe(1 + (end.match(/\n/g) ?? []).length);
  });

  it('name the line of what is no object, and go on', async () => {
    const rows = await read('{"id":"a"}\nnot json\n[1]\n{"id":"b"}\n', 'jsonl');
    expect(rows.map(({ line, issues }) => [line, issues.length])).toEqual([
      [1, 0],
      [2, 1],
      [3, 1],
      [4, 0],
    ]);
    expect(JSON.stringify(rows)).not.toContain('not json');
  });

  it('refuse a line of 10 MB without keeping it, and go on', async () => {
    const rows = await read(`{"prompt":"${'x'.repeat(10_000_000)}"}\n{"id":"b"}\n`, 'jsonl', 65_536);
    expect(rows.map(({ line, issues }) => [line, issues.length])).toEqual([
      [1, 1],
      [2, 0],
    ]);
  });
});

describe('one JSON list', () => {
  const twoRows = [
    { id: 'a', prompt: 'A "fox", [red]\n{fast} \\' },
    { id: 'b', prompt: 'Sea', duration: 4, references: [{ kind: 'image', url: 'https://h.example/[1]' }] },
  ];

  it.each<[string, string, readonly number[]]>([
    ['in one line', JSON.stringify(twoRows), [1, 1]],
    [
      'with a row in each line',
      `\ufeff[\n${twoRows.map((row) => JSON.stringify(row)).join(',\n')}\n]\n`,
      [2, 3],
    ],
    ['over many lines', JSON.stringify(twoRows, null, 2), [2, 6]],
    [
      'with a comma behind the last row',
      `\r\n[${twoRows.map((row) => JSON.stringify(row)).join(',')} ,\r\n]`,
      [2, 2],
    ],
  ])('is read like JSON lines: %s, whatever the pieces', async (_name, text, lines) => {
    for (const piece of [1, 2, 3, 5, 4096])
      for (const format of [undefined, 'jsonl'] as const)
        expect(cells(await read(text, format, piece))).toEqual(
          twoRows.map((row, index) => [lines[index], row]),
        );
  });

  it.each(['[]', '[ ]', '[\n]\n'])('%j has no rows', async (text) => {
    expect(await read(text)).toEqual([]);
  });

  it('names the line of what is no object, and continues', async () => {
    const text = `[{"id":"a"},\n7,\n[{}],,\n{"id":"b"},{"prompt":"${'x'.repeat(300_000)}"},\n{"id" "c"},\n{"id":"d"}]`;
    const rows = await read(text, undefined, 4096);
    expect(rows.map(({ line, issues }) => [line, issues.length])).toEqual([
      [1, 0],
      [2, 1],
      [3, 1],
      [4, 0],
      [4, 1],
      [5, 1],
      [6, 0],
    ]);
  });

  it.each([
    ['that does not end', '[{"id":"a"},\n{"id":"b"}\n', /does not end.*line 2/],
    ['with a quote that does not end', '[{"id":"a"},\n{"id":"b}]\n', /does not end.*line 2/],
    ['of nothing that does not end', '\n[', /does not end.*line 2/],
    ['with text behind it', '[{"id":"a"}]\n{"id":"b"}\n', /Line 2 has text after the end/],
    ['with another one behind it', '[{"id":"a"}][{"id":"b"}]', /Line 1 has text after the end/],
  ])('%s is refused', async (_name, text, message) => {
    const reading = read(text);
    await expect(reading).rejects.toMatchObject({ name: 'ManifestUnreadableError' });
    await expect(reading).rejects.toThrow(message);
  });
});

describe('what is no manifest', () => {
  const canary = 'SECRET-PROMPT';
  it.each([
    ['gzip', gzipSync('id,prompt\na,x\n'), /gzip/],
    ['a spreadsheet file', Buffer.from('PK\u0003\u0004rest'), /CSV UTF-8/],
    ['a binary file', Buffer.from([1, 2, 0, 4, 5, 0, 9]), /not a text file/],
    [
      'NUL bytes behind the beginning',
      Buffer.from(`id,prompt\n${'a,x\n'.repeat(2000)}b,\0`),
      /NUL.*line 2002/,
    ],
    ['UTF-16 without its mark', Buffer.from('id,prompt\n', 'utf16le'), /byte order mark/],
    [
      'a text in an old code page',
      Buffer.from(`id,prompt\na,${canary} gr\u00f6\u00dfe\n`, 'latin1'),
      /UTF-8/,
    ],
    ['a header without names', `${canary} of a fox, and the sea\n`, /name the columns/],
    ['a cell of 10 MB', `id,prompt\na,${canary}\nb,"${'x'.repeat(10_000_000)}"\n`, /line 3 .*262144/],
    ['a quote that is not closed', `id,prompt\na,"${canary}\nb,y\n`, /line 2 .*not closed/],
    ['a quote inside a cell without quotes', `id,prompt\na,5" ${canary}\n`, /line 2 .*misplaced quote/],
    ['text behind a closing quote', `id,prompt\na,"${canary}"s\n`, /line 2 .*misplaced quote/],
    ['text behind a closing quote and a blank', `id,prompt\na,"${canary}" s\n`, /line 2 .*misplaced quote/],
    [
      'a quote behind a closing quote and a blank',
      `id,prompt\na,"${canary}" "s"\n`,
      /line 2 .*misplaced quote/,
    ],
    ['blanks without an end', ' '.repeat(2_000_000), /white space/],
  ])('%s is refused with what to do, without a word of it', async (_name, bytes, message) => {
    const reading = read(bytes, undefined, 65_536);
    await expect(reading).rejects.toMatchObject({ name: 'ManifestUnreadableError' });
    await expect(reading).rejects.toThrow(message);
    await expect(reading).rejects.not.toThrow(canary);
  });

  it('an unknown column is named with the nearest known one; a sentence is not repeated', async () => {
    const reading = read(`id,promt,durration,${canary} and more\na,x,4,y\n`);
    await expect(reading).rejects.toMatchObject({
      name: 'ManifestHeaderError',
      issues: [
        { line: 1, column: 'promt', allowed: ['prompt'] },
        { line: 1, column: 'durration', allowed: ['duration'] },
        { line: 1, column: null },
      ],
    });
    const error: unknown = await reading.catch((thrown: unknown) => thrown);
    expect(JSON.stringify(error)).not.toContain(canary);
  });

  it('a column that is there twice, by whatever name, is named', async () => {
    await expect(read('prompt,seconds,duration\nx,4,8\n')).rejects.toMatchObject({
      issues: [{ line: 1, column: 'duration' }],
    });
  });

  it.each(['', '\n\n', 'id,prompt\n', '\ufeff'])('%j has no rows', async (text) => {
    expect(await read(text)).toEqual([]);
  });
});
