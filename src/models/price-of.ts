import { type Money } from '../domain/billing';
import { type ModelEntry } from '../domain/model-config';
import { estimatePrice } from '../domain/price';
import { type PaidRequest } from '../domain/request';

/** Estimate of one paid call by its model's price rule; null means unknown, never free (C1.5, C1.7). */
export function estimateFor(paid: PaidRequest, entry: ModelEntry | undefined): Money | null {
  if (paid.operation === 'create_video') {
    const { durationSeconds, resolution } = paid.request;
    return estimatePrice(entry?.price, { durationSeconds, resolution });
  }
  const { size, quality, n } = paid.request;
  return estimatePrice(entry?.price, { size, quality, n });
}
