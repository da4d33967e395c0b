import { NOT_JOINED } from '../domain/names';

/** Placeholder for the user's workflows: a bundle has theirs instead, found by the path of this file. */
function workflows(): Readonly<Record<string, unknown>> {
  const error = new Error(
    'The bundler did not put your workflows into the bundle. A webpackConfigHook must keep `resolve.alias`.',
  );
  throw Object.assign(error, { name: NOT_JOINED });
}

export = workflows();
