import { createHash } from 'node:crypto';
import { type PlanIndex } from '../../src/domain/campaign/plan';
import { readJson } from '../../src/manifest/result-lines';
import { MODELS, noModels } from './models';
import { PlanHarness } from './plan-harness';

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

describe('a plan', () => {
  let harness: PlanHarness;
  beforeAll(async () => {
    harness = await PlanHarness.open();
  });
  afterAll(() => harness.close());

  const many = (count: number, model = 'cine-1') =>
    `id,model,prompt,duration\n${Array.from({ length: count }, (_, index) => `r${index},${model},text ${index},4\n`).join('')}`;

  it('puts a hundred rows into each page, in the order of the manifest, with price and first attempt', async () => {
    const manifest = many(250);
    const plan = await harness.plan(manifest);
    expect(plan).toMatchObject({
      v: 1,
      generation: 0,
      manifest: createHash('sha256').update(manifest).digest('hex'),
      rows: 250,
      planned: 250,
      done: 0,
      left: 0,
      invalid: 0,
      issues: [],
      issuesFile: null,
      pages: 3,
      currency: 'USD',
      estimate: 250 * 200_000,
      unpriced: 0,
      models: [{ model: 'cine-1', operation: 'create_video', rows: 250, estimate: 50_000_000, unpriced: 0 }],
    });
    expect(plan.refused).toBeUndefined();
    const index = await readJson<PlanIndex>(harness.store, plan.index.sha256);
    expect(index.pages.map(({ rows }) => rows)).toEqual([100, 100, 50]);
    const rows = await harness.rows(plan);
    expect(rows.map(({ key }) => key)).toEqual(Array.from({ length: 250 }, (_, at) => `r${at}`));
    expect(rows[7]).toEqual({
      row: 7,
      line: 9,
      key: 'r7',
      content: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      call: {
        operation: 'create_video',
        request: { model: 'cine-1', prompt: 'text 7', durationSeconds: 4 },
      },
      estimate: 200_000,
      attempt: 0,
    });
  });

  it('has videos, images and edits side by side, by what the model makes', async () => {
    const { uri, sha256 } = await harness.store.putBuffer(PNG, { mediaType: 'image/png' });
    const artifact = { uri, mediaType: 'image/png', bytes: PNG.length, sha256 };
    const manifest = [
      'id;operation;model;prompt;duration;size;n;images;mask;image_reference;field:camera;account',
      'v;;cine-1;x;8;;;;;https://h.invalid/1|https://h.invalid/2;"{""pan"":1}";',
      'i;;image-2;x;;1024x1024;2;;;;;other',
      `e;;image-2;x;;;;${uri};${uri};;;`,
      `w;EDIT;image-2;x;;;;file:img/a.png|${uri};;;;`,
    ].join('\n');
    const file = (path: string) => Promise.resolve(path === 'img/a.png' ? artifact : undefined);
    const rows = await harness.planned(manifest, { file });
    expect(rows.map(({ call, account, estimate }) => ({ call, account, estimate }))).toEqual([
      {
        call: {
          operation: 'create_video',
          request: {
            model: 'cine-1',
            prompt: 'x',
            durationSeconds: 8,
            references: [
              { kind: 'image', source: { url: 'https://h.invalid/1' } },
              { kind: 'image', source: { url: 'https://h.invalid/2' } },
            ],
            fields: { camera: { pan: 1 } },
          },
        },
        account: undefined,
        estimate: 400_000,
      },
      {
        call: {
          operation: 'generate_image',
          request: { model: 'image-2', prompt: 'x', size: '1024x1024', n: 2 },
        },
        account: 'other',
        estimate: 40_000,
      },
      {
        call: {
          operation: 'edit_image',
          request: { model: 'image-2', prompt: 'x', images: [{ artifact }], mask: { artifact } },
        },
        account: undefined,
        estimate: 20_000,
      },
      {
        call: {
          operation: 'edit_image',
          request: { model: 'image-2', prompt: 'x', images: [{ artifact }, { artifact }] },
        },
        account: undefined,
        estimate: 20_000,
      },
    ]);
  });

  it('reads references of JSON lines in every form', async () => {
    const { sha256 } = await harness.store.putBuffer(PNG, { mediaType: 'image/png' });
    const artifact = { uri: `artifact:sha256/${sha256}`, mediaType: 'image/png', bytes: PNG.length, sha256 };
    const row = {
      model: 'frames',
      prompt: 'x',
      references: [
        { kind: 'image', source: 'https://h.invalid/1', field: 'first_frame' },
        { kind: 'image', url: 'https://h.invalid/2', field: 'last_frame' },
      ],
    };
    const more = {
      operation: 'edit',
      model: 'image-2',
      prompt: 'x',
      images: [artifact.uri, { artifact }],
    };
    const rows = await harness.planned(`${JSON.stringify(row)}\n${JSON.stringify(more)}\n`);
    expect(rows[0]?.call.request).toMatchObject({
      references: [
        { kind: 'image', source: { url: 'https://h.invalid/1' }, field: 'first_frame' },
        { kind: 'image', source: { url: 'https://h.invalid/2' }, field: 'last_frame' },
      ],
    });
    expect(rows[1]?.call.request).toMatchObject({ images: [{ artifact }, { artifact }] });
  });

  it('[C1.3] gives each of two image models to the row that names it', async () => {
    const rows = await harness.planned('model,prompt\nimage-2,x\nimage-2 4K,x\n');
    expect(rows.map(({ call }) => call.request.model)).toEqual(['image-2', 'image-2 4K']);
  });

  it('has the first rows of a limit and leaves the others', async () => {
    const plan = await harness.plan(many(250), { limit: 10 });
    expect(plan).toMatchObject({ rows: 250, planned: 10, left: 240, estimate: 2_000_000 });
    expect((await harness.rows(plan)).map(({ row }) => row)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('has a sample that depends on keys alone, in the order of the manifest', async () => {
    const plan = await harness.plan(many(250), { sample: 10 });
    expect(plan).toMatchObject({ rows: 250, planned: 10, left: 240, estimate: 2_000_000 });
    const keys = (await harness.rows(plan)).map(({ key }) => key);
    expect(keys).toEqual([...keys].sort((a, b) => Number(a.slice(1)) - Number(b.slice(1))));
    const [header = '', ...lines] = many(250).trim().split('\n');
    const turned = [header, ...lines.reverse()].join('\n');
    const again = (await harness.planned(turned, { sample: 10 })).map(({ key }) => key);
    expect([...again].sort()).toEqual([...keys].sort());
  });

  it('[C1.5] a model without a price is unknown and no 0; with a budget it is refused', async () => {
    const manifest = 'model,prompt,duration\ncine-1,x,4\nfree-form,x,\ncine-1,no duration,\n';
    const plan = await harness.plan(manifest);
    expect(plan).toMatchObject({ planned: 3, estimate: 200_000, unpriced: 2, currency: 'USD' });
    const refused = await harness.plan(manifest, { budget: { microUnits: 1_000_000, currency: 'USD' } });
    expect(refused).toMatchObject({ planned: 0, pages: 0, refused: { reason: 'unpriced_models' } });
    expect(refused.refused?.message).toContain('free-form');
    expect(await harness.rows(refused)).toEqual([]);
  });

  it('refuses a budget in another currency, a model without a price also behind a limit, and two currencies always', async () => {
    const budget = { microUnits: 1, currency: 'USD' };
    const other = await harness.plan('model,prompt\neuro,x\n', { budget });
    expect(other.refused?.reason).toBe('budget_currency');
    const behind = await harness.plan('model,prompt\nframes,x\nfree-form,x\n', { budget, limit: 1 });
    expect(behind.refused?.reason).toBe('unpriced_models');
    const mixed = await harness.plan('model,prompt\neuro,x\nframes,x\n');
    expect(mixed).toMatchObject({ planned: 0, pages: 0, refused: { reason: 'mixed_currencies' } });
  });

  it('passes what is safe where no configuration is', async () => {
    const rows = await harness.planned('model,prompt,duration\nanything,x,7\n', { models: noModels() });
    expect(rows[0]).toMatchObject({ call: { operation: 'create_video' }, estimate: null });
  });

  it('reads from the columns of a row what it orders, where nothing is known of its model', async () => {
    const manifest = 'model,prompt,duration,size\nanything,x,7,\nanything,y,,512x512\nanything,z,,\n';
    const rows = await harness.planned(manifest, { models: noModels() });
    expect(rows.map(({ call }) => call.operation)).toEqual([
      'create_video',
      'generate_image',
      'create_video',
    ]);
    const both = await harness.plan('model,prompt,duration,size\nanything,x,7,512x512\n', {
      models: noModels(),
    });
    expect(both.issues).toMatchObject([{ line: 2, column: 'size' }]);
  });

  it('is not made while the configuration is down', async () => {
    const down = { found: 'unavailable', message: 'down', retryAfterMs: 5_000 } as const;
    const models = { lookup: () => Promise.resolve(down) };
    await expect(harness.plan('model,prompt\nx,y\n', { models })).rejects.toMatchObject({
      name: 'ModelsDownError',
      retryAfterMs: 5_000,
    });
  });

  it('validates all rows by one state of the configuration', async () => {
    let asked = 0;
    const entry = MODELS[2]!;
    const models = {
      lookup: () =>
        Promise.resolve(
          asked++ === 0 ? { found: 'entry' as const, entry } : { found: 'refused' as const, known: [] },
        ),
    };
    expect(await harness.plan(many(50, 'free-form').replaceAll(',4\n', ',\n'), { models })).toMatchObject({
      planned: 50,
    });
    expect(asked).toBe(1);
  });

  it('refuses a manifest without rows, one that cannot be read, and a credential that is not there', async () => {
    expect((await harness.plan('id,model,prompt\n')).refused?.reason).toBe('no_rows');
    expect((await harness.plan('\0\0\0')).refused?.reason).toBe('manifest_unreadable');
    const plan = await harness.plan(many(3), { account: 'second', knowsAccount: () => false });
    expect(plan.refused?.reason).toBe('account_not_configured');
  });

  it('is nothing new to a row when rows are sorted, inserted, or saved by another program', async () => {
    const lines = ['cine-1,x,4', 'cine-1,y,4', 'cine-1,x,4', 'cine-1,z,8'];
    const keys = async (text: string) =>
      new Map((await harness.planned(text)).map(({ key, content }) => [key, content]));
    const first = await keys(`model,prompt,duration\n${lines.join('\n')}\n`);
    const others = await keys(
      `model;prompt;duration\r\n${[...lines].reverse().join('\r\n').replaceAll(',', ';')}`,
    );
    const inserted = await keys(
      `\n{"model":"cine-1","prompt":"new"}\n${lines
        .map((line) => line.split(','))
        .map(([model, prompt, duration]) => JSON.stringify({ prompt, duration: Number(duration), model }))
        .join('\n\n')}`,
    );
    expect(others).toEqual(first);
    expect(first.size).toBe(4);
    for (const [key, content] of first) expect(inserted.get(key)).toBe(content);
  });

  it('[C2.1.2] takes 4.0 for the whole number 4 in CSV as in JSON, and no other fraction', async () => {
    const csv = await harness.planned('model,prompt,duration\ncine-1,a,4.0\ncine-1,b, 4. \ncine-1,c,4\n');
    const json = await harness.planned(
      '[{"model":"cine-1","prompt":"a","duration":4.0},{"model":"cine-1","prompt":"b","duration":"4.00"}]',
    );
    expect(csv.map(({ call }) => call.request)).toMatchObject(
      [4, 4, 4].map((durationSeconds) => ({ durationSeconds })),
    );
    expect(json.map(({ key }) => key)).toEqual(csv.slice(0, 2).map(({ key }) => key));
    const plan = await harness.plan(
      'model,prompt,duration\ncine-1,a,4.5\ncine-1,b,4.01\ncine-1,c,.4\ncine-1,d,4,0\n',
    );
    expect(plan).toMatchObject({ invalid: 4, planned: 0 });
  });

  it('ends where it is cancelled', async () => {
    const stop = new AbortController();
    let rows = 0;
    const planning = harness.plan(many(5_000), {
      signal: stop.signal,
      onProgress: (progress) => {
        ({ rows } = progress);
        if (rows >= 400) stop.abort(new Error('enough'));
      },
    });
    await expect(planning).rejects.toThrow('enough');
    expect(rows).toBe(400);
  });

  it.each([
    ['is refused by its header', 'id,model,promt\na,b,c\n', {}],
    ['is broken', 'id,model,prompt\na,b,"c"d\n', {}],
    ['is one list', '[{}]', {}],
    ['is no text', '\0', {}],
    ['is cancelled', many(5_000), { signal: AbortSignal.abort(new Error('enough')) }],
    ['has its sample', many(500), { sample: 3 }],
    ['is whole', many(3), {}],
  ])('lets go of a manifest that %s', async (_name, text, options) => {
    let open = 0;
    async function* source(): AsyncGenerator<Uint8Array> {
      open += 1;
      try {
        for (let at = 0; at < text.length; at += 64) yield Buffer.from(text.slice(at, at + 64));
        // What follows is never asked for where the beginning is wrong.
        yield Buffer.from(' '.repeat(5_000));
      } finally {
        open -= 1;
      }
    }
    await harness.plan('', { ...options, open: source }).catch(() => undefined);
    expect(open).toBe(0);
  });

  it('fails when its pages cannot be written, and says so once', async () => {
    const sink = {
      putBuffer: () => Promise.reject(new Error('disk full')),
      putStream: () => Promise.reject(new Error('disk full')),
    };
    await expect(harness.plan(many(2_000), { sink })).rejects.toThrow('disk full');
    await expect(harness.plan('model\nx\n'.repeat(20), { sink })).rejects.toThrow('disk full');
  });
});
