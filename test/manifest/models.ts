import { type ModelEntry } from '../../src/domain/model-config';
import { createModelSource, type ModelSource } from '../../src/settings/model-source';

/** Models whose values differ, so that nothing of one can be taken for another. */
export const MODELS: readonly ModelEntry[] = [
  {
    id: 'cine-1',
    kind: 'video',
    durations: [4, 8],
    resolutions: ['480p', '720p'],
    aspectRatios: ['16:9', '1:1'],
    references: [
      { kind: 'image', field: 'reference_images', shape: 'array', form: 'url', max: 2 },
      { kind: 'video', field: 'motion', shape: 'string', form: 'data_url' },
    ],
    fields: ['camera'],
    price: { per: 'second', microUnits: 50_000, currency: 'USD' },
  },
  {
    id: 'frames',
    kind: 'video',
    references: [
      { kind: 'image', field: 'first_frame', shape: 'string', form: 'url' },
      { kind: 'image', field: 'last_frame', shape: 'string', form: 'url' },
    ],
    price: { per: 'task', microUnits: 400_000, currency: 'USD' },
  },
  { id: 'free-form', kind: 'video' },
  {
    id: 'euro',
    kind: 'video',
    price: { per: 'task', microUnits: 100_000, currency: 'EUR' },
  },
  {
    id: 'image-2',
    kind: 'image',
    sizes: ['1024x1024', 'auto'],
    qualities: ['low', 'high'],
    maxN: 4,
    responseFormats: ['url', 'b64_json'],
    edit: { mask: true, fields: ['size'], maxImages: 2 },
    price: { per: 'task', microUnits: 20_000, currency: 'USD' },
  },
  { id: 'image-2 4K', kind: 'image', sizes: ['4096x4096'], edit: {} },
];

/** As a worker has them. @param models without: every model is unlisted */
export function modelSource(models: readonly ModelEntry[] | undefined = MODELS): ModelSource {
  const text = JSON.stringify({ version: 1, models });
  return createModelSource({ location: 'models.json', read: () => Promise.resolve(text) });
}

export const noModels = (): ModelSource => createModelSource();
