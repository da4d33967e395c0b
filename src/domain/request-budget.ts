import { type ModelEntry } from './model-config';
import { CREATE_TIMEOUTS, IMAGE_TIMEOUTS } from './timeouts';

/** Milliseconds that one paid request of a model may take, from connect to the last byte of the reply. */
export function requestBudgetMs(
  kind: ModelEntry['kind'],
  entry: Pick<ModelEntry, 'requestSeconds'> | undefined,
): number {
  if (entry?.requestSeconds !== undefined) return entry.requestSeconds * 1000;
  return (kind === 'video' ? CREATE_TIMEOUTS : IMAGE_TIMEOUTS).httpBudgetMs;
}
