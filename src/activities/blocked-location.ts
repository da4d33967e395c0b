import { type BlockedHop } from '../service/media-client';

/**
 * Says why the location of a result was not requested, and how to allow it. Of an address it shows only the origin
 * (C5.4b).
 */
export function blockedLocation(hop: BlockedHop): string {
  if (hop.reason !== 'address')
    return `The worker may not request the location of the result (${hop.reason}).`;
  return `The result lies at ${hop.origin}, which is neither the service (${hop.service}) nor a public address: nothing was sent there. If you trust it, add that origin to MEDIA_ALLOWED_MEDIA_ORIGINS of the worker and restart it.`;
}
