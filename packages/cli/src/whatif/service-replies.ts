import { failureFields, type FailureKind } from '@temporal-media/sandbox/internal/task-failure';

const KINDS: readonly string[] = [
  'moderation',
  'capacity',
  'invalid',
  'quota',
] satisfies readonly FailureKind[];

/** An error of this kind as services write it: the text and the code of the history may name its request. */
export function errorOf(kind: string): unknown {
  return KINDS.includes(kind)
    ? failureFields(kind as FailureKind, 0)['error']
    : { message: 'An unexpected error occurred.' };
}

/**
 * How many of so many tries in a row are played where the package chose the pauses between them: they grow with each try, and
 * nothing else can shorten them. @param speed how many times fewer
 */
export const fewerTries = (tries: number, speed: number): number => Math.ceil(tries / speed);

/** Whole seconds, as the header has them. @param speed how many times shorter */
export const retryAfter = (ms: number, speed: number): number => Math.max(1, Math.ceil(ms / 1000 / speed));
