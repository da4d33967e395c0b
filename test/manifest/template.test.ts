import { type ModelConfiguration } from '../../src/domain/model-config';
import { columnOf, MANIFEST_COLUMNS } from '../../src/manifest/columns';
import { manifestTemplate } from '../../src/manifest/template';
import { sandboxModels } from '../../src/testing/sandbox/model-catalog';
import { MODELS, modelSource, noModels } from './models';
import { PlanHarness } from './plan-harness';

describe('the template of a manifest', () => {
  let harness: PlanHarness;
  beforeAll(async () => {
    harness = await PlanHarness.open();
  });
  afterAll(() => harness.close());

  const { models: sandbox } = sandboxModels as unknown as ModelConfiguration;

  it.each([
    ['the models of these tests', MODELS.filter(({ id }) => id !== 'euro')],
    ['the sandbox', sandbox],
  ])('has a row for each model that plans as it is: %s', async (_name, models) => {
    const text = await manifestTemplate(models);
    const rows = await harness.planned(text, { models: modelSource(models) });
    expect(rows.map(({ call }) => call.request.model)).toEqual(models.map(({ id }) => id));
  });

  it('has the columns that the models use, and no other', async () => {
    const [header] = (await manifestTemplate(MODELS)).split('\n');
    expect(header).toBe(
      '\ufeffid,model,prompt,duration,resolution,aspect_ratio,image_reference,video_reference,' +
        'image_reference:first_frame,image_reference:last_frame,size,quality,n,images,mask,field:camera',
    );
    const [bare] = (await manifestTemplate([{ id: 'x', kind: 'image' }])).split('\n');
    expect(bare).toBe('\ufeffid,model,prompt,size');
  });

  it('says what goes where when nothing is configured', async () => {
    const text = await manifestTemplate(undefined);
    expect(text).toContain('\nfirst,MODEL,');
    expect(await harness.planned(text, { models: noModels() })).toHaveLength(1);
  });
});

describe('the table of columns', () => {
  it('has every name once, whatever the case', () => {
    const names = MANIFEST_COLUMNS.flatMap(({ name, aliases }) => [name, ...aliases]);
    const lower = names.map((name) => name.toLowerCase());
    expect(new Set(lower).size).toBe(lower.length);
  });

  it('is found by each of its names, in the formats that it has', () => {
    for (const column of MANIFEST_COLUMNS)
      for (const format of ['csv', 'jsonl'] as const)
        for (const name of [column.name, ...column.aliases]) {
          const written = column.suffix === 'always' ? `${name}:x` : name;
          const found = columnOf(written, format);
          expect('column' in found && found.column === column).toBe(column.formats.includes(format));
        }
  });
});
