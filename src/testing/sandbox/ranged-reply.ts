import { type IncomingHttpHeaders } from 'node:http';
import { type RenderedMedia } from './media-store';
import { type SandboxReply } from './sandbox-reply';

/** The bytes of a file as 200, 206 or 416: one byte range, a strong ETag, If-Range. */
export function rangedReply(
  media: RenderedMedia,
  mediaType: string,
  request: IncomingHttpHeaders,
): SandboxReply {
  const size = media.bytes.length;
  const headers = { 'content-type': mediaType, etag: media.etag, 'accept-ranges': 'bytes' };
  const whole: SandboxReply = { status: 200, headers, body: media.bytes };
  const match = /^bytes=(\d*)-(\d*)$/.exec(request.range ?? '');
  const condition = request['if-range'];
  if (match === null || (match[1] === '' && match[2] === '')) return whole;
  if (condition !== undefined && condition !== media.etag) return whole;
  const first = match[1] === '' ? Math.max(0, size - Number(match[2])) : Number(match[1]);
  const last = match[1] === '' || match[2] === '' ? size - 1 : Math.min(size - 1, Number(match[2]));
  if (first > last) {
    return { status: 416, headers: { 'content-range': `bytes */${size}` }, body: Buffer.alloc(0) };
  }
  return {
    status: 206,
    headers: { ...headers, 'content-range': `bytes ${first}-${last}/${size}` },
    body: media.bytes.subarray(first, last + 1),
  };
}
