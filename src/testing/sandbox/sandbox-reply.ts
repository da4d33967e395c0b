import { type ReplyFault } from './fault-rule';

/** A reply before it meets the network. */
export interface SandboxReply {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
  /** What the body says, when it is an error of the sandbox's own: `compat` mode says it in other shapes. */
  error?: ErrorFields;
}

/** An error in the words of the widely used APIs. */
export interface ErrorFields {
  message: string;
  type: string;
  param: string | null;
  code: string | null;
}

/** A JSON reply. */
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

/** An error in the shape of the widely used APIs; the contract shows none (section 7). */
export function errorReply(
  status: number,
  message: string,
  detail: { param?: string | undefined; code?: string | undefined; type?: string } = {},
): SandboxReply {
  const type = detail.type ?? (status < 500 ? 'invalid_request_error' : 'server_error');
  const error: ErrorFields = { message, type, param: detail.param ?? null, code: detail.code ?? null };
  return { ...jsonReply(status, { error }), error };
}

/** The same error in another shape: flat, or as a list of details. A reply that is no error stays as it is. */
export function inErrorShape(reply: SandboxReply, shape: 'nested' | 'flat' | 'detail'): SandboxReply {
  if (reply.error === undefined || shape === 'nested') return reply;
  const { message, param, code, type } = reply.error;
  const body =
    shape === 'flat'
      ? { code: code ?? type, message, data: null }
      : { detail: [{ loc: ['body', ...(param === null ? [] : [param])], msg: message, type: code ?? type }] };
  return { ...reply, body: Buffer.from(JSON.stringify(body)) };
}

const usual: Record<number, [string, string]> = {
  400: ['The request is invalid.', 'invalid_request'],
  401: ['The API key is missing or invalid.', 'invalid_api_key'],
  402: ['The balance is used up.', 'insufficient_balance'],
  403: ['This key has no access.', 'access_denied'],
  404: ['Not found.', 'not_found'],
  429: ['Too many requests.', 'rate_limit_exceeded'],
  500: ['Internal error.', 'internal_error'],
  502: ['Bad gateway.', 'bad_gateway'],
  503: ['The service is unavailable.', 'service_unavailable'],
};

/** The reply of a fault rule; without a body the usual error of the status. */
export function faultReply(fault: ReplyFault): SandboxReply {
  const headers = fault.headers ?? {};
  if (fault.raw !== undefined) {
    return {
      status: fault.status,
      headers: { 'content-type': fault.contentType ?? 'text/plain', ...headers },
      body: Buffer.from(fault.raw),
    };
  }
  const type: Record<string, string> =
    fault.contentType === undefined ? {} : { 'content-type': fault.contentType };
  if (fault.body !== undefined) return jsonReply(fault.status, fault.body, { ...type, ...headers });
  const [message, code] = usual[fault.status] ?? ['Unexpected status.', `status_${fault.status}`];
  const reply = errorReply(fault.status, message, { code });
  return { ...reply, headers: { ...reply.headers, ...type, ...headers } };
}
