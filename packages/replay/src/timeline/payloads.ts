import { defaultPayloadConverter, type Payload } from '@temporalio/common';

/** The value of a payload; undefined for none and for one that cannot be read, such as one that is still encrypted. */
export function decoded(payload: Payload | null | undefined): unknown {
  if (!payload) return undefined;
  try {
    return defaultPayloadConverter.fromPayload(payload);
  } catch (_error) {
    return undefined;
  }
}

/** The first argument or result. */
export function firstOf(
  payloads: { readonly payloads?: readonly Payload[] | null } | null | undefined,
): unknown {
  return decoded(payloads?.payloads?.[0]);
}
