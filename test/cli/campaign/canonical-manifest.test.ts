import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { canonicalManifest, LocalFiles, namesFiles } from '../../../packages/cli/src/campaign/manifest';
import { measuringStore } from '../../../packages/cli/src/shared/dry-run';
import { renderImage } from '../../../packages/sandbox/src/render-image';
import { readManifest } from '../../../src/manifest/read-manifest';

const bytes = async function* (text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
};
const artifact = { uri: `artifact:sha256/${'a'.repeat(64)}`, mediaType: 'image/png', bytes: 3 };
const stored = { ...artifact, sha256: 'a'.repeat(64) };
const find = async (name: string) => (name === 'cup.png' ? stored : undefined);

async function canonical(text: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of canonicalManifest(bytes(text), find)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function rowsOf(text: string) {
  const rows: { line: number; values: object; issues: (string | null)[] }[] = [];
  for await (const { line, values, issues } of readManifest(bytes(text))) {
    const shown = Object.fromEntries([...values].map(([key, { value }]) => [key, value]));
    rows.push({ line, values: shown, issues: issues.map(({ column }) => column) });
  }
  return rows;
}

describe('a manifest whose files are stored', () => {
  test('every row keeps its line, its columns and its texts; only files become artifacts', async () => {
    const csv = [
      'id;model;prompt;image_reference;field:seed',
      'a;m;"two',
      'lines";file:cup.png;4',
      '',
      'b;m;x;https://example.com/a.png|file:cup.png;',
      'c;m;file:cup.png;artifact:sha256/0;',
    ].join('\r\n');
    const text = await canonical(csv);
    const [before, after] = [await rowsOf(csv), await rowsOf(text)];
    expect(after.map(({ line }) => line)).toEqual([2, 5, 6]);
    expect(after).toEqual(
      before.map((row) => {
        const image = { 2: { artifact: stored }, 5: ['https://example.com/a.png', { artifact: stored }] }[
          row.line
        ];
        return image === undefined ? row : { ...row, values: { ...row.values, image_reference: image } };
      }),
    );
  });

  test('lists of references keep their kinds, fields and order', async () => {
    const references = [
      { kind: 'image', field: 'first', file: 'cup.png' },
      { kind: 'video', url: 'https://example.com/a.mp4' },
      { kind: 'image', source: 'file:cup.png' },
    ];
    const line = (value: object) => JSON.stringify({ model: 'm', prompt: 'x', ...value });
    const text = await canonical(
      `${line({ references })}\n${line({ images: ['file:cup.png'], mask: 'file:no' })}`,
    );
    const [first, second] = JSON.parse(text) as object[];
    expect(first).toMatchObject({
      references: [
        { kind: 'image', field: 'first', artifact: stored },
        { kind: 'video', url: 'https://example.com/a.mp4' },
        { kind: 'image', artifact: stored },
      ],
    });
    expect(second).toMatchObject({ images: [{ artifact: stored }], mask: 'file:no' });
  });

  test('a row that is not right in its form stays wrong, on its line and in its column', async () => {
    const csv = await rowsOf(await canonical('id,model\na,m,too much\nb,m'));
    expect(csv.map(({ line, issues }) => [line, issues])).toEqual([
      [2, [null]],
      [3, []],
    ]);
    const lines = ['{"model":"m","duration":1,"seconds":2}', '{"modle":"m"}', '7', '{"model":"m"}'];
    const json = await rowsOf(await canonical(lines.join('\n')));
    expect(json.map(({ line, issues }) => [line, issues])).toEqual([
      [1, ['duration']],
      [2, ['modle']],
      [3, [null]],
      [4, []],
    ]);
    const list = '[{"model":"m"},{"model":"m","prompt":"a","prompt":"b"},\n7,{"model":"m","_own":1}]';
    expect((await rowsOf(await canonical(list))).map(({ line, issues }) => [line, issues])).toEqual([
      [1, []],
      [1, ['prompt']],
      [2, [null]],
      [2, []],
    ]);
    expect(await canonical('id,model\n')).toBe('[]\n');
  });

  test('a manifest without files is left as it is; a prompt that speaks of one names none', async () => {
    expect(await namesFiles(bytes('id,model,prompt\na,m,file:cup.png'))).toBe(false);
    expect(await namesFiles(bytes('id,model,prompt,images\na,m,x,file:cup.png'))).toBe(true);
    expect(await namesFiles(bytes('{"model":"m","references":[{"kind":"image","file":"a.png"}]}'))).toBe(
      true,
    );
    expect(await namesFiles(bytes('no header at all'))).toBe(false);
  });
});

describe('[C2.4.6] files that rows name', () => {
  let dir: string;
  let files: LocalFiles;
  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'temporal-media-files-'));
    await mkdir(path.join(dir, 'manifest', 'in'), { recursive: true });
    const spec = { kind: 'image', model: 'm', prompt: 'cup', width: 16, height: 16, index: 0 } as const;
    const png = renderImage({ ...spec, inputs: [] });
    await writeFile(path.join(dir, 'outside.png'), png);
    await writeFile(path.join(dir, 'manifest', 'in', 'cup.png'), png);
    await writeFile(path.join(dir, 'manifest', 'text.png'), 'no image');
    await symlink(path.join(dir, 'outside.png'), path.join(dir, 'manifest', 'link.png'));
    files = new LocalFiles(path.join(dir, 'manifest'), measuringStore);
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  test.each([
    ['below the manifest', 'in/cup.png', true],
    ['a link out of its folder', 'link.png', false],
    ['a way up', '../outside.png', false],
    ['no media by its bytes', 'text.png', false],
    ['not there', 'none.png', false],
    ['a folder', 'in', false],
  ])('%s', async (_title, name, found) => {
    expect((await files.find(name)) !== undefined).toBe(found);
  });

  test('a manifest from elsewhere names none', async () => {
    expect(await new LocalFiles(null, measuringStore).find('in/cup.png')).toBeUndefined();
  });
});
