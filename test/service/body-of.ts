import { buffer } from 'node:stream/consumers';
import { type ContentFetchResult } from '../../src/service/media-client';

/** The whole body of a fetch. @throws Error where there is none */
export async function bytesOf(result: ContentFetchResult): Promise<Buffer> {
  if (result.kind !== 'body') throw new Error(`no body but ${JSON.stringify(result)}`);
  return buffer(result.body);
}
