import { toArtifactError } from '../../artifacts/artifact-store';
import { type CommandErrorType } from '../error-types';
import { openStore } from '../paid-options';
import { type Check, failed, ok, warning } from './check';
import { folderState } from './folder-state';

const REMEDY =
  'Point MEDIA_ARTIFACTS (default: the folder artifacts in MEDIA_DATA_DIR) to a folder that can be written.';

/** Whether results can be stored where a worker runs, and found where only commands run. */
export const artifacts: Check = {
  name: 'artifacts',
  title: 'Artifact store',
  after: [],
  limitMs: 5_000,
  late: 'artifacts/storage',
  run: async ({ config, workerSide }) => {
    const store = openStore(config);
    const state = store.kind === 'file' ? await folderState(config.artifacts) : 'there';
    if (!workerSide) {
      return state === 'there'
        ? ok('there; the worker must use the same one')
        : warning(
            'There is none here: videos are made, but this machine cannot save their files.',
            'Set MEDIA_DATA_DIR or MEDIA_ARTIFACTS as the worker has it, if both can reach one store.',
          );
    }
    if (state === 'missing') return ok('can be written; the first worker makes it');
    try {
      if (state === 'there') await store.checkWritable();
    } catch (error) {
      const { code, message } = toArtifactError(error);
      return failed(`artifacts/${code}` as CommandErrorType, message, REMEDY);
    }
    return state === 'there'
      ? ok('can be written')
      : failed('artifacts/not_writable', 'The artifact store cannot be written.', REMEDY);
  },
};
