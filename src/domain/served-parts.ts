import { type activityQueues } from './names';

/**
 * What a worker of a task queue NAME can serve: `workflows` on NAME, and the activities on NAME/create, NAME/poll,
 * NAME/download and NAME/image. With `create` also the activities on NAME, which read journal and manifests.
 */
export const SERVED_PARTS = ['workflows', 'create', 'poll', 'download', 'image'] as const;

/** What a worker may serve: the workflows, or one of its activity queues. */
export type ServedPart = (typeof SERVED_PARTS)[number];

/** What follows from the parts that a worker serves. */
export interface Served {
  readonly workflows: boolean;
  /** Activities on the queue itself. */
  readonly ownActivities: boolean;
  /** Activity queues. All of their activities need the key and both stores; workflows need neither. */
  readonly kinds: readonly (keyof ReturnType<typeof activityQueues>)[];
}

export function servedBy(parts: readonly ServedPart[]): Served {
  return {
    workflows: parts.includes('workflows'),
    ownActivities: parts.includes('create'),
    kinds: parts.filter((part) => part !== 'workflows'),
  };
}

/** Why these are no parts of a worker; undefined when they are. */
export function partsProblem(parts: readonly string[]): string | undefined {
  const unknown = parts.find((part) => !(SERVED_PARTS as readonly string[]).includes(part));
  if (parts.length > 0 && unknown === undefined) return undefined;
  const allowed = `must name one or more of ${SERVED_PARTS.join(', ')}`;
  return unknown === undefined ? `${allowed}.` : `${allowed}; "${unknown}" is none of them.`;
}
