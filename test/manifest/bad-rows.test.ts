import { type ManifestIssue } from '../../src/domain/campaign/plan';
import { PlanHarness } from './plan-harness';

/** In a place where a value of the row must not come back out of. */
const SECRET = 'canary-of-a-prompt';
const HASH = 'a'.repeat(64);
const video = (row: object) => JSON.stringify({ id: 'r', model: 'cine-1', prompt: SECRET, ...row });
const image = (row: object) => JSON.stringify({ id: 'r', model: 'image-2', prompt: SECRET, ...row });
const edit = (row: object) => image({ operation: 'edit', ...row });

describe('rows that are not valid', () => {
  let harness: PlanHarness;
  beforeAll(async () => {
    harness = await PlanHarness.open();
  });
  afterAll(() => harness.close());

  const cases: readonly (readonly [string, string, Partial<ManifestIssue>])[] = [
    ['no model', JSON.stringify({ id: 'r', prompt: SECRET }), { column: 'model' }],
    ['no prompt', JSON.stringify({ id: 'r', model: 'cine-1' }), { column: 'prompt' }],
    ['a prompt of blanks', video({ prompt: '   ' }), { column: 'prompt' }],
    ['a prompt that is no text', video({ prompt: [SECRET] }), { column: 'prompt' }],
    ['a NUL in a prompt', video({ prompt: `${SECRET}\0` }), { column: 'prompt' }],
    ['a model that is not configured', video({ model: 'cine-2' }), { column: 'model' }],
    [
      'a model with a blank that only looks like none',
      video({ model: 'cine-1\u00a0' }),
      {
        column: 'model',
        message: expect.stringContaining('invisible characters: U+00A0 at character 7.') as string,
      },
    ],
    [
      'a model with a character that nobody sees',
      video({ model: 'cine\u200b-1' }),
      {
        column: 'model',
        message: expect.stringContaining('invisible characters: U+200B at character 5.') as string,
      },
    ],
    [
      'an operation with a character that nobody sees',
      video({ operation: 'vi\u200bdeo' }),
      {
        column: 'operation',
        message: expect.stringContaining('invisible characters: U+200B at character 3.') as string,
      },
    ],
    [
      'a kind of reference with a character that nobody sees',
      video({ references: [{ kind: 'image\ufeff', url: 'https://h.invalid/1' }] }),
      {
        column: 'references',
        message: expect.stringContaining('invisible characters: U+FEFF at character 6.') as string,
      },
    ],
    [
      'an unseen character in the name of a column',
      video({ 'aspect\u00ad_ratio': '16:9' }),
      {
        column: null,
        message: expect.stringContaining('invisible characters: U+00AD at character 7.') as string,
      },
    ],
    [
      'a column of her own, with the way to keep it',
      video({ notes: SECRET }),
      { column: 'notes', message: expect.stringContaining('start its name with _: _notes.') as string },
    ],
    ['half of a character in a prompt', video({ prompt: `${SECRET} \ud83d cat` }), { column: 'prompt' }],
    ['half of a character in a model', video({ model: 'cine-1\udc00' }), { column: 'model' }],
    ['half of a character in an id', video({ id: 'r\ud83d' }), { column: 'id' }],
    [
      'half of a character deep in a field',
      video({ 'field:camera': { pan: [{ to: `${SECRET}\ud83d` }] } }),
      { column: 'field:camera' },
    ],
    [
      'half of a character in the name of a field',
      video({ model: 'free-form', fields: { 'pan\ud83d': 1 } }),
      { column: 'fields' },
    ],
    [
      'half of a character in an address',
      video({ image_reference: 'https://h.invalid/\ud83d' }),
      { column: 'image_reference' },
    ],
    [
      'a name that is there twice',
      `{"id":"r","model":"cine-1","prompt":"${SECRET}","prompt":"x"}`,
      { column: 'prompt', message: expect.stringContaining('occurs twice') as string },
    ],
    [
      'a name that is there twice, once in other letters',
      `{"id":"r","model":"cine-1","prompt":"${SECRET}","\\u0070rompt":"x"}`,
      { column: 'prompt', message: expect.stringContaining('occurs twice') as string },
    ],
    [
      'a field that is there twice',
      `{"id":"r","model":"free-form","prompt":"x","fields":{"seed":1,"a":{"seed":2},"seed":3}}`,
      { column: 'fields', message: expect.stringContaining('inside this value') as string },
    ],
    [
      'a name that is there twice in the JSON of a field',
      video({ 'field:camera': '{"pan":1,"pan":2}' }),
      { column: 'field:camera', message: expect.stringContaining('repeats a name') as string },
    ],
    ['a model of the other kind', video({ model: 'image-2', operation: 'video' }), { column: 'model' }],
    [
      'an unknown operation',
      video({ operation: 'movie' }),
      { column: 'operation', allowed: ['video', 'image', 'edit'] },
    ],
    ['an unknown field', video({ promt: SECRET }), { column: 'promt', allowed: ['prompt'] }],
    ['a field under two names', video({ seconds: 4, duration: 4 }), { column: 'duration' }],
    ['a duration that the model lacks', video({ duration: 5 }), { column: 'duration', allowed: ['4', '8'] }],
    ['an alias, named as it is written', video({ seconds: 5 }), { column: 'seconds', allowed: ['4', '8'] }],
    ['a duration of half seconds', video({ duration: 4.5 }), { column: 'duration' }],
    ['a duration with a unit', video({ duration: '4s' }), { column: 'duration' }],
    ['a duration that is a formula', video({ duration: '=2+2' }), { column: 'duration' }],
    ['a duration of nothing', video({ duration: 0 }), { column: 'duration' }],
    [
      'a resolution that the model lacks',
      video({ resolution: '4K' }),
      { column: 'resolution', allowed: ['480p', '720p'] },
    ],
    ['a resolution that is a number', video({ resolution: 720 }), { column: 'resolution' }],
    [
      'an aspect ratio that the model lacks',
      video({ aspectRatio: '21:9' }),
      { column: 'aspectRatio', allowed: ['16:9', '1:1'] },
    ],
    ['a size for a video', video({ size: '1024x1024' }), { column: 'size', allowed: ['image', 'edit'] }],
    ['a duration for an image', image({ duration: 4 }), { column: 'duration', allowed: ['video'] }],
    ['a size with the wrong cross', image({ size: '1024×1024' }), { column: 'size' }],
    [
      'a size that the model lacks',
      image({ size: '512x512' }),
      { column: 'size', allowed: ['1024x1024', 'auto'] },
    ],
    [
      'a quality that the model lacks',
      image({ quality: 'best' }),
      { column: 'quality', allowed: ['low', 'high'] },
    ],
    [
      'a quality where none is listed',
      image({ model: 'image-2 4K', quality: 'high' }),
      { column: 'quality' },
    ],
    ['too many results', image({ n: 9 }), { column: 'n' }],
    ['no number of results', image({ n: 'two' }), { column: 'n' }],
    [
      'an unknown form of reply',
      image({ response_format: 'png' }),
      { column: 'response_format', allowed: ['url', 'b64_json'] },
    ],
    ['an edit without images', edit({}), { column: 'images' }],
    ['an edit of an address', edit({ images: 'https://host.invalid/x.png' }), { column: 'images' }],
    [
      'a mask where none is listed',
      edit({ model: 'image-2 4K', images: `artifact:sha256/${HASH}`, mask: `artifact:sha256/${HASH}` }),
      { column: 'images' },
    ],
    ['an artifact that is not there', edit({ images: `artifact:sha256/${HASH}` }), { column: 'images' }],
    ['a file that is not there', edit({ images: `file:${SECRET}.png` }), { column: 'images' }],
    [
      'a path up',
      video({ model: 'frames', 'image_reference:first_frame': `file:../${SECRET}.png` }),
      { column: 'image_reference:first_frame' },
    ],
    [
      'a path from the root',
      video({ image_reference: `file:/etc/${SECRET}` }),
      { column: 'image_reference' },
    ],
    [
      'a path without a word for it',
      video({ image_reference: `${SECRET}.png` }),
      { column: 'image_reference', allowed: ['https://…', 'artifact:sha256/HASH', 'file:PATH'] },
    ],
    ['an unknown scheme', video({ image_reference: `ftp://${SECRET}/x` }), { column: 'image_reference' }],
    [
      'too many references',
      video({ image_reference: 'https://h.invalid/1|https://h.invalid/2|https://h.invalid/3' }),
      { column: 'image_reference' },
    ],
    [
      'a kind of reference that the model lacks',
      video({ audio_reference: 'https://h.invalid/a.mp3' }),
      { column: 'audio_reference', allowed: ['image', 'video'] },
    ],
    [
      'a reference without its field',
      video({ model: 'frames', image_reference: 'https://h.invalid/1' }),
      { column: 'image_reference', allowed: ['first_frame', 'last_frame'] },
    ],
    ['references that are no list', video({ references: 'https://h.invalid/1' }), { column: 'references' }],
    [
      'a reference of an unknown kind',
      video({ references: [{ kind: 'smell', url: 'https://h.invalid/1' }] }),
      { column: 'references', allowed: ['image', 'video', 'audio'] },
    ],
    [
      'a reference with two sources',
      video({ references: [{ kind: 'image', url: 'https://h.invalid/1', file: 'x.png' }] }),
      { column: 'references' },
    ],
    ['a field of another model', video({ 'field:seed': 7 }), { column: 'field:seed', allowed: ['camera'] }],
    ['a field that holds a path', video({ 'field:camera': `/home/${SECRET}` }), { column: 'field:camera' }],
    ['a field that is broken JSON', video({ 'field:camera': '{"pan": }' }), { column: 'field:camera' }],
    [
      'a field too deep',
      video({ 'field:camera': JSON.parse('['.repeat(40) + ']'.repeat(40)) as unknown }),
      { column: 'fields' },
    ],
    ['fields that are no object', video({ fields: [1] }), { column: 'fields' }],
    [
      'a field that has a place of its own',
      video({ model: 'free-form', fields: { resolution: '4K' } }),
      { column: 'fields' },
    ],
    ['a credential that the worker lacks', video({ account: SECRET }), { column: 'account' }],
    [
      'a prompt in the place of a model',
      video({ model: `${SECRET} ${'x'.repeat(200)}` }),
      { column: 'model' },
    ],
    [
      'a prompt in the place of a resolution',
      video({ model: 'free-form', resolution: `${SECRET} ${'x'.repeat(200)}` }),
      { column: 'resolution' },
    ],
    ['an id that is too long', video({ id: 'x'.repeat(129) }), { column: 'id' }],
    ['an id with a line break', video({ id: 'a\nb' }), { column: 'id' }],
    ['no JSON', `{"prompt": "${SECRET}"`, { column: null }],
    ['a list', `["${SECRET}"]`, { column: null }],
    ['a row of more than 256 KiB', video({ prompt: `${SECRET}${'x'.repeat(300_000)}` }), { column: null }],
    ['a very deep row', '['.repeat(100_000), { column: null }],
  ];

  it('are of thirty kinds and more', () => {
    expect(cases.length).toBeGreaterThanOrEqual(30);
  });

  it.each(cases)('%s: line and column are named, and no word of the row', async (_name, row, expected) => {
    const good = JSON.stringify({ id: 'good', model: 'free-form', prompt: 'x' });
    const plan = await harness.plan(`${good}\n${row}\n`, {
      format: 'jsonl',
      knowsAccount: (name) => name === 'default',
    });
    expect(plan).toMatchObject({
      rows: 2,
      planned: 0,
      invalid: 1,
      pages: 0,
      refused: { reason: 'invalid_rows' },
    });
    expect(plan.issues[0]).toMatchObject({ line: 2, ...expected });
    expect(plan.issues.every(({ line }) => line === 2)).toBe(true);
    expect(JSON.stringify(plan)).not.toContain(SECRET);
    expect(JSON.stringify(plan)).not.toContain('h.invalid');
  });

  it('an id that is there twice names the first line, in CSV after a quoted line break too', async () => {
    const plan = await harness.plan('id,model,prompt\na,cine-1,"x\ny"\nb,cine-1,x\na,cine-1,z\n');
    expect(plan.issues).toEqual([
      { line: 5, column: 'id', id: 'a', message: expect.stringContaining('line 2') as string },
    ]);
  });

  it('a value under no column of CSV is named by its place', async () => {
    const plan = await harness.plan(`id,model,prompt\na,cine-1,x,${SECRET}\n`);
    expect(plan.issues).toMatchObject([{ line: 2, column: null, id: 'a' }]);
    expect(JSON.stringify(plan)).not.toContain(SECRET);
  });

  it('all of them are told in an artifact, the first fifty in the plan', async () => {
    const rows = Array.from({ length: 300 }, (_, index) => video({ id: `r${index}`, duration: 5 }));
    const plan = await harness.plan(rows.join('\n'));
    expect(plan.issues).toHaveLength(50);
    expect(plan.invalid).toBe(300);
    const lines: string[] = [];
    for await (const chunk of await harness.store.read(plan.issuesFile!)) lines.push(String(chunk));
    expect(lines.join('').trim().split('\n')).toHaveLength(300);
    expect(JSON.stringify(plan).length).toBeLessThan(20_000);
  });

  it('are left out when that is asked for, and the others keep their places', async () => {
    const manifest = `${video({ id: 'a' })}\n${video({ id: 'b', duration: 5 })}\n${video({ id: 'c' })}\n`;
    const plan = await harness.plan(manifest, { onInvalid: 'skip' });
    expect(plan).toMatchObject({ rows: 3, planned: 2, invalid: 1 });
    expect((await harness.rows(plan)).map(({ row, line, key }) => [row, line, key])).toEqual([
      [0, 1, 'a'],
      [2, 3, 'c'],
    ]);
  });

  it('a header with an unknown column refuses the manifest also then', async () => {
    const plan = await harness.plan('id,model,prompt,colour\na,cine-1,x,red\n', { onInvalid: 'skip' });
    expect(plan.refused?.reason).toBe('invalid_rows');
    expect(plan.issues).toMatchObject([{ line: 1, column: 'colour' }]);
  });
});
