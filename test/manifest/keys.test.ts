import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { RowKeys } from '../../src/manifest/validate-rows';
import { memoryStore } from './memory-store';
import { PlanHarness } from './plan-harness';

describe('keys of rows', () => {
  it('count equal rows, and find an id that is there already, a content key among them', () => {
    const keys = new RowKeys();
    expect(keys.keyOf(undefined, 'c'.repeat(64), 2)).toEqual({ key: `${'c'.repeat(20)}.0` });
    expect(keys.keyOf(undefined, 'c'.repeat(64), 3)).toEqual({ key: `${'c'.repeat(20)}.1` });
    expect(keys.keyOf('a', 'c'.repeat(64), 4)).toEqual({ key: 'a' });
    expect(keys.keyOf('a', 'd'.repeat(64), 5)).toEqual({ takenBy: 4 });
    expect(keys.keyOf(`${'c'.repeat(20)}.1`, 'd'.repeat(64), 6)).toEqual({ takenBy: 3 });
  });
});

describe('any rows', () => {
  let harness: PlanHarness;
  beforeAll(async () => {
    harness = await PlanHarness.open(memoryStore());
  });
  afterAll(() => harness.close());

  interface Drawn {
    readonly prompt: string;
    readonly duration: string;
    readonly resolution: string;
    readonly camera: string;
  }
  const prompt = fc
    .oneof(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
      fc.constantFrom(
        '"',
        ';',
        ',',
        '\t',
        'a\nb',
        '=1+1',
        '@x',
        "'",
        '|',
        'x,"y"\n"',
        '\ufeff.',
        '{"a":1}',
        '# no',
      ),
    )
    // Line ends are the same in every program, and blanks alone are no prompt.
    .map((text) => text.replace(/\r\n?/g, '\n').replaceAll('\0', ''))
    .filter((text) => text.trim() !== '');
  const row: fc.Arbitrary<Drawn> = fc.record({
    prompt,
    duration: fc.constantFrom('', '4', '8'),
    resolution: fc.constantFrom('', '480p', '720p'),
    camera: fc.constantFrom('', 'pan', '"4"', '{"pan":[1,2]}'),
  });
  const dialect = fc.record({
    delimiter: fc.constantFrom(',', ';', '\t'),
    record_delimiter: fc.constantFrom('\n', '\r\n', '\r'),
    bom: fc.boolean(),
    quoted: fc.boolean(),
  });
  const toCsv = (rows: readonly Drawn[], options: object) =>
    stringify(
      rows.map((one) => ({ model: 'cine-1', ...one, 'field:camera': one.camera })),
      {
        ...options,
        header: true,
        quoted_match: /[;,\t\r\n"]/,
        columns: ['prompt', 'model', 'duration', 'resolution', 'field:camera'],
      },
    );

  it('come back out of CSV of any dialect as they went in', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 8 }), dialect, async (rows, options) => {
        const planned = await harness.planned(toCsv(rows, options));
        expect(planned.map(({ call }) => call.request)).toEqual(
          rows.map(({ prompt: said, duration, resolution, camera }) => ({
            model: 'cine-1',
            prompt: said,
            ...(duration !== '' && { durationSeconds: Number(duration) }),
            ...(resolution !== '' && { resolution }),
            ...(camera !== '' && {
              fields: { camera: camera === 'pan' ? 'pan' : (JSON.parse(camera) as unknown) },
            }),
          })),
        );
      }),
      { numRuns: 60 },
    );
  });

  it('keep their keys when the manifest is sorted or extended, and saved as JSON lines', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { minLength: 1, maxLength: 8 }),
        fc.array(row, { maxLength: 4 }),
        dialect,
        fc.infiniteStream(fc.nat(1_000)),
        async (rows, more, options, order) => {
          const keysOf = async (manifest: string) => (await harness.planned(manifest)).map(({ key }) => key);
          const keys = await keysOf(toCsv(rows, options));
          expect(new Set(keys).size).toBe(keys.length);
          const mixed = [...rows, ...more]
            .map((one) => [order.next().value, one] as const)
            .sort(([a], [b]) => Number(a) - Number(b))
            .map(([, one]) => one);
          const after = new Set(await keysOf(toCsv(mixed, options)));
          for (const key of keys) expect(after.has(key)).toBe(true);
          const lines = rows.map(({ prompt: said, duration, resolution, camera }) =>
            JSON.stringify({ model: 'cine-1', 'field:camera': camera, resolution, duration, prompt: said }),
          );
          expect(await keysOf(lines.join('\n'))).toEqual(keys);
        },
      ),
      { numRuns: 60 },
    );
  });
});
