import { createModelSource, type ModelSource } from '../../models/model-source';
import { type Check, failed, ok } from './check';

const READ_MS = 5_000;

/** Whether the model configuration can be read, is valid, and lists a video model. */
export const models: Check = {
  name: 'models',
  title: 'Models',
  after: [],
  workerSide: true,
  limitMs: READ_MS + 1_000,
  late: 'models_unavailable',
  run: async ({ config: { models: location, unknownModels } }) => {
    if (location === undefined)
      return ok(
        'no MEDIA_MODELS is set: any model is sent, with the fields that are safe for every model only',
      );
    let source: ModelSource;
    try {
      source = createModelSource({ location, timeoutMs: READ_MS });
    } catch (error) {
      const { message } = error as Error;
      return failed(
        'models_unavailable',
        message.includes('MEDIA_MODELS') ? message : 'MEDIA_MODELS is an address that cannot be used.',
      );
    }
    const looked = await source.lookup('doctor');
    if (looked.found === 'unavailable') return failed('models_unavailable', looked.message);
    const listed = (await source.all()) ?? [];
    const videos = listed.filter(({ kind }) => kind === 'video').length;
    const text = `${listed.length} listed in MEDIA_MODELS, ${videos} of them for videos`;
    if (videos > 0 || unknownModels === 'allow') return ok(text);
    const remedy =
      'Add a video model to the configuration (`temporal-media schema models` prints its schema), or set MEDIA_UNKNOWN_MODELS=allow.';
    return failed('models_unavailable', `Every video would be refused: ${text}.`, remedy);
  },
};
