import { WORKFLOW } from '../domain/names';
import { WorkerSetupError } from '../package-file';

/** Workflow types of this package. */
export const MEDIA_WORKFLOWS: readonly string[] = Object.values(WORKFLOW);

/**
 * The user's activities and ours, under one roof.
 * @throws WorkerSetupError when two different ones have the same name
 */
export function joinActivities(users: object | undefined, ours: object): object {
  const registered: Readonly<Record<string, unknown>> = { ...users };
  const taken = Object.entries(ours).filter(
    ([name, activity]) => Object.hasOwn(registered, name) && registered[name] !== activity,
  );
  if (taken.length === 0) return { ...registered, ...ours };
  throw new WorkerSetupError(
    `Your activities and those of temporal-media have the same name: ${taken.map(([name]) => name).join(', ')}. ` +
      'Rename yours: workflows call ours by these names. Where they are those of createMediaActivities, leave them out.',
  );
}
