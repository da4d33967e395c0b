import { notJoined } from './not-joined';

/** Stands for the user's workflows: a bundle has theirs in its place, found by the path of this file. */
function workflows(): Readonly<Record<string, unknown>> {
  throw notJoined(
    'The bundler did not put your workflows into the bundle. A webpackConfigHook must keep `resolve.alias`.',
  );
}

export = workflows();
