import { type BlockedHop } from '../service/media-client';

/** Why nothing was asked where a result lies, and what would change that. Of an address only its origin is told (C5.4b). */
export function blockedLocation(hop: BlockedHop): string {
  if (hop.reason !== 'address') return `The result lies where this worker must not go (${hop.reason}).`;
  return `The result lies at ${hop.origin}, which is neither the service (${hop.service}) nor a public address: nothing was asked there. If you trust it, add that origin to MEDIA_ALLOWED_MEDIA_ORIGINS of the worker and restart it.`;
}
