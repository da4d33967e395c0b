import { type IncomingHttpHeaders } from 'node:http';
import { type RenderedMedia } from './media-store';

/** A reply before it is sent. */
export interface SandboxReply {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
  /** The fields of the sandbox's own error, which `compat` mode writes in other shapes. */
  error?: ErrorFields;
}

/** Error fields, named as in widely used APIs. */
interface ErrorFields {
  message: string;
  type: string;
  param: string | null;
  code: string | null;
}

/** Returns a JSON reply. */
export function jsonReply(
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): SandboxReply {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body: Buffer.from(JSON.stringify(value)),
  };
}

/** Returns an error in the shape of widely used APIs. The contract does not define one (section 7). */
export function errorReply(
  status: number,
  message: string,
  detail: { param?: string | undefined; code?: string | undefined; type?: string } = {},
): SandboxReply {
  const type = detail.type ?? (status < 500 ? 'invalid_request_error' : 'server_error');
  const error: ErrorFields = { message, type, param: detail.param ?? null, code: detail.code ?? null };
  return { ...jsonReply(status, { error }), error };
}

/** Returns the same error in another shape: flat, or as a list of details. Returns other replies unchanged. */
export function inErrorShape(reply: SandboxReply, shape: 'nested' | 'flat' | 'detail'): SandboxReply {
  if (reply.error === undefined || shape === 'nested') return reply;
  const { message, param, code, type } = reply.error;
  const body =
    shape === 'flat'
      ? { code: code ?? type, message, data: null }
      : { detail: [{ loc: ['body', ...(param === null ? [] : [param])], msg: message, type: code ?? type }] };
  return { ...reply, body: Buffer.from(JSON.stringify(body)) };
}

/** Returns a file's bytes with 200, 206 or 416. Supports one byte range, a strong ETag and If-Range. */
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
