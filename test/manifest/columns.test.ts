import { manifestTemplate, templateText } from '../../packages/cli/src/campaign/template';
import { sandboxModels } from '../../packages/sandbox/src/models';
import { type ModelConfiguration } from '../../src/domain/model-config';
import { columnOf, MANIFEST_COLUMNS } from '../../src/manifest/columns';
import { memoryStore } from './memory-store';
import { MODELS, modelSource, noModels } from './models';
import { PlanHarness } from './plan-harness';

describe('the template of a manifest', () => {
  let harness: PlanHarness;
  beforeAll(async () => {
    harness = await PlanHarness.open(memoryStore());
  });
  afterAll(() => harness.close());

  const { models: sandbox } = sandboxModels as unknown as ModelConfiguration;
  const configurations = [
    ['the models of these tests', MODELS.filter(({ id }) => id !== 'euro')],
    ['the sandbox', sandbox],
  ] as const;

  it.each(configurations)('has a row for each model that plans as it is: %s', async (_name, models) => {
    for (const format of ['csv', 'jsonl'] as const) {
      const text = templateText(manifestTemplate(models), format);
      const rows = await harness.planned(text, { models: modelSource(models) });
      expect(rows.map(({ call }) => call.request.model)).toEqual(models.map(({ id }) => id));
    }
  });

  it('is refused where nothing is configured, until a model is named', async () => {
    const text = templateText(manifestTemplate([]), 'csv');
    const { refused, issues } = await harness.plan(text, { models: noModels() });
    expect(refused).toMatchObject({ reason: 'invalid_rows' });
    expect(JSON.stringify(issues)).toContain('model is required.');
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
          const found = columnOf(written, format, 1);
          expect(found.column === column).toBe(column.formats.includes(format));
        }
  });
});
