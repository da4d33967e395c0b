import { createHash } from 'node:crypto';
import { type CreatePolicy, resolveCreatePolicy } from '../../src/domain/create-policy';
import { environmentConnections } from '../../src/service/connections';
import { createMediaClient } from '../../src/service/create-media-client';
import {
  type MediaClient,
  type MediaClientOptions,
  type PaidSendOptions,
} from '../../src/service/media-client';
import { type WireJsonBody } from '../../src/service/wire-body';

export const KEY = 'key-1234567890abcdef';

/** A client of a loopback service: short limits, no proxy of the machine in between. */
export function clientOf(baseUrl: string, options: Partial<MediaClientOptions> = {}): MediaClient {
  return createMediaClient({
    baseUrl,
    apiKey: () => KEY,
    connectionFactory: environmentConnections({}),
    ...options,
  });
}

export function send(policy?: CreatePolicy, options: Partial<PaidSendOptions> = {}): PaidSendOptions {
  return { policy: resolveCreatePolicy(policy), ...options };
}

export function jsonBody(json: WireJsonBody['json'] = { model: 'm', prompt: 'p' }): WireJsonBody {
  const text = JSON.stringify(json);
  return { kind: 'json', json, text, bodyHash: createHash('sha256').update(text).digest('hex') };
}
