import { Readable } from 'node:stream';
import { throwBug } from 'temporal-media/internal/domain/bug';
import {
  getterWithoutCredentials,
  type PlainReply,
} from 'temporal-media/internal/service/get-without-credentials';

/**
 * GETs a manifest. The worker never requests the address again, so that exactly what was validated and agreed to is
 * started. Messages omit the address, which may be signed (C5.4b). @throws Error with a reason for a person
 */
export async function fetchManifest(address: string, env = process.env): Promise<Readable> {
  let reply: PlainReply;
  try {
    reply = await getterWithoutCredentials(env)(address);
  } catch (error) {
    throwBug(error);
    throw new Error('its address does not respond.');
  }
  if ('body' in reply) return Readable.fromWeb(reply.body);
  throw new Error(
    reply.refused === 'downgraded'
      ? 'its address redirects from https to http.'
      : `its address returned HTTP ${reply.status}.`,
  );
}
