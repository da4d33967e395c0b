import { NOT_JOINED } from '../domain/names';

/**
 * A placeholder for the user's workflows. The bundler replaces this file, which it finds by its path, with the user's.
 */
function workflows(): Readonly<Record<string, unknown>> {
  const error = new Error(
    'Your workflows are missing from the bundle. If you use a webpackConfigHook, make sure it keeps `resolve.alias`.',
  );
  throw Object.assign(error, { name: NOT_JOINED });
}

export = workflows();
