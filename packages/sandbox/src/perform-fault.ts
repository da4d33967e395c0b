import { type ServerResponse } from 'node:http';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type SandboxCounters } from './counters';
import { type FaultAction, type LostReply, type ReplyFault } from './faults';
import { errorReply, jsonReply, type SandboxReply } from './reply';
import { type SandboxFinish, type SandboxRequest } from './request-log';

/** A request that has no reply yet. */
interface Unanswered {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly entry: SandboxRequest;
  readonly core: {
    readonly counters: SandboxCounters;
    /** Functions that complete stalled replies. */
    readonly stalled: Set<() => void>;
  };
  /** Records how the request ended. */
  finish(how: SandboxFinish): void;
}

/** Sends a reply, changed by the fault if there is one. Resolves when the reply has ended or stalled. */
export async function sendReply(
  exchange: Unanswered,
  reply: SandboxReply,
  fault?: FaultAction,
): Promise<void> {
  const whole = fault?.type === 'truncate' ? { ...reply, body: reply.body.subarray(0, fault.bytes) } : reply;
  if (fault?.type === 'lose_reply') return lose(exchange, whole, fault.how);
  if (fault?.type === 'reset_early') return lose(exchange, whole, 'reset');
  if (fault?.type === 'cut_body') return cut(exchange, whole, fault.afterBytes, fault.how);
  const raw = exchange.reply.raw;
  head(exchange, whole);
  if (fault?.type === 'slow_body') await trickle(exchange, whole.body, fault.bytesPerSecond);
  else if (!raw.destroyed) sent(exchange, whole.body);
  await new Promise<void>((resolve) => {
    if (raw.destroyed) resolve();
    raw.once('close', resolve);
    // The head and the body are sent in one write, unless the body has already been sent slowly.
    if (fault?.type === 'slow_body') raw.end(resolve);
    else raw.end(whole.body, resolve);
  });
}

/** Loses the reply after the request was read. A stalled reply continues after `releaseStalled`. */
async function lose(exchange: Unanswered, reply: SandboxReply, how: LostReply): Promise<void> {
  const socket = exchange.request.raw.socket;
  const half = Math.floor(reply.body.length / 2);
  switch (how) {
    case 'reset':
      exchange.finish('reset');
      socket.resetAndDestroy();
      return;
    case 'close':
      exchange.finish('cut');
      socket.destroySoon();
      return;
    case 'cut_body':
      return cut(exchange, reply, half, 'close');
    case 'stall':
      exchange.finish('stalled');
      exchange.core.stalled.add(() => void sendReply(exchange, reply));
      return;
    case 'stall_body':
      exchange.finish('stalled');
      start(exchange, reply);
      await write(exchange, reply.body.subarray(0, half));
      exchange.core.stalled.add(() => exchange.reply.raw.end(reply.body.subarray(half)));
  }
}

/** Sends fewer bytes than Content-Length announces, then RST or FIN. */
async function cut(
  exchange: Unanswered,
  reply: SandboxReply,
  bytes: number,
  how: 'reset' | 'close',
): Promise<void> {
  const socket = exchange.request.raw.socket;
  start(exchange, reply);
  exchange.finish(how === 'reset' ? 'reset' : 'cut');
  await write(exchange, reply.body.subarray(0, bytes));
  if (how === 'close') {
    socket.destroySoon();
    return;
  }
  // An RST discards bytes that the peer has not read yet, so give it a moment to read them.
  setTimeout(() => socket.resetAndDestroy(), 50);
}

function head({ reply: { raw }, entry }: Unanswered, { status, headers, body }: SandboxReply): void {
  entry.status = status;
  raw.writeHead(status, { 'content-length': String(body.length), ...headers });
}

function start(exchange: Unanswered, reply: SandboxReply): void {
  head(exchange, reply);
  exchange.reply.raw.flushHeaders();
}

function sent({ core, entry }: Unanswered, { length }: Buffer): void {
  core.counters.operations[entry.operation].bytes += length;
}

async function trickle(exchange: Unanswered, body: Buffer, bytesPerSecond: number): Promise<void> {
  exchange.reply.raw.flushHeaders();
  const step = Math.max(1, Math.floor(bytesPerSecond / 20));
  for (let sent = 0; sent < body.length && !exchange.reply.raw.destroyed; sent += step) {
    await write(exchange, body.subarray(sent, sent + step));
    await new Promise((resolve) => setTimeout(resolve, (step / bytesPerSecond) * 1000));
  }
}

async function write(exchange: Unanswered, bytes: Buffer): Promise<void> {
  const raw: ServerResponse = exchange.reply.raw;
  if (bytes.length === 0 || raw.destroyed) return;
  sent(exchange, bytes);
  await new Promise<void>((resolve) => {
    raw.once('close', resolve);
    raw.write(bytes, () => {
      raw.removeListener('close', resolve);
      resolve();
    });
  });
}

const usual: Record<number, [string, string]> = {
  400: ['The request is invalid.', 'invalid_request'],
  401: ['The API key is missing or invalid.', 'invalid_api_key'],
  402: ['The balance is used up.', 'insufficient_balance'],
  403: ['This key does not have access.', 'access_denied'],
  404: ['Not found.', 'not_found'],
  429: ['Too many requests.', 'rate_limit_exceeded'],
  500: ['Internal error.', 'internal_error'],
  502: ['Bad gateway.', 'bad_gateway'],
  503: ['The service is unavailable.', 'service_unavailable'],
};

/** Returns a fault rule's reply. If the rule has no body, this is the usual error for its status. */
function faultReply(fault: ReplyFault): SandboxReply {
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

const page = JSON.stringify({
  error: { message: 'The file could not be read.', type: 'server_error', code: null },
});
const html = '<!doctype html><html><head><title>502</title></head><body><h1>Bad gateway</h1></body></html>';

/**
 * Returns the reply that a fault sends instead of the normal one, or undefined if the fault changes only the record or
 * the transport. `mediaType` is an error page's Content-Type, and `notReady` is the status of content that is not
 * ready.
 */
export function replaceReply(
  action: FaultAction,
  mediaType: string,
  notReady: number = 404,
): SandboxReply | undefined {
  switch (action.type) {
    case 'status':
    case 'accept_then_status':
      return faultReply(action);
    case 'json_page':
      return { status: 200, headers: { 'content-type': mediaType }, body: Buffer.from(page) };
    case 'html_page':
      return { status: 200, headers: { 'content-type': mediaType }, body: Buffer.from(html) };
    case 'not_ready':
      return errorReply(action.status ?? notReady, 'The content is not available yet.', {
        code: 'not_ready',
      });
    case 'expired':
      return errorReply(404, 'The file has expired.', { code: 'expired' });
    case 'redirect':
      return { status: action.status ?? 302, headers: { location: action.location }, body: Buffer.alloc(0) };
    default:
      return undefined;
  }
}
