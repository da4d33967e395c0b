import { issueSink } from '../../../packages/cli/src/campaign/local-plan';
import { columnHelp, manifestTemplate, templateText } from '../../../packages/cli/src/campaign/template';
import { Report } from '../../../packages/cli/src/shared/report';
import { sandboxModels } from '../../../packages/sandbox/src/models';
import { type ModelEntry } from '../../../src/domain/model-config';
import { planManifest } from '../../../src/manifest/plan-manifest';
import { createModelSource, type ModelSource } from '../../../src/settings/model-source';

const models = sandboxModels.models as unknown as readonly ModelEntry[];

const none = async () => null;

/** What planning makes of a template. */
const planOf = (text: string, source: ModelSource) =>
  planManifest({
    campaign: 'c',
    select: { rows: 'missing' },
    onInvalid: 'fail',
    rebuyChanged: false,
    generation: 0,
    open: async function* () {
      yield Buffer.from(text);
    },
    models: source,
    store: { has: none, read: () => Promise.reject(new Error('none')) },
    sink: issueSink(new Report()),
  });

describe('the template of a manifest', () => {
  test.each(['csv', 'jsonl'] as const)(
    'as %s it is a manifest of which every row is valid',
    async (format) => {
      const text = templateText(manifestTemplate(models), format);
      const read = async () => JSON.stringify(sandboxModels);
      const plan = await planOf(text, createModelSource({ location: 'models.json', read }));
      expect([plan.issues, plan.refused, plan.rows]).toEqual([[], undefined, models.length]);
    },
  );

  test.each(['csv', 'jsonl'] as const)(
    'as %s without a configuration its row is refused until it names a model',
    async (format) => {
      const text = templateText(manifestTemplate([]), format);
      const plan = await planOf(text, createModelSource({}));
      expect(plan.planned).toBe(0);
      expect(plan.issues).toContainEqual(
        expect.objectContaining({ column: 'model', message: 'model is required.' }),
      );
      const named = await planOf(text.replace(/(row-1,|"model":")/, '$1film-1'), createModelSource({}));
      expect([named.issues, named.planned]).toEqual([[], 1]);
    },
  );

  test('without a configuration it has the columns of any video', () => {
    const template = manifestTemplate([]);
    expect(template.columns).toEqual(['id', 'model', 'prompt', 'duration', 'resolution', 'aspect_ratio']);
    expect(template.rows).toHaveLength(1);
    expect(columnHelp(template).every((line) => /^ {2}\S+: ./.test(line))).toBe(true);
  });
});
