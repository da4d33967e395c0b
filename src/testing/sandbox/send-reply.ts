import { type ServerResponse } from 'node:http';
import { type Exchange } from './exchange';
import { type FaultAction, type LostReply } from './fault-rule';
import { type SandboxReply } from './sandbox-reply';

/** Writes a reply to the network, or what a fault leaves of it. Resolves when the sandbox is done with it. */
export async function sendReply(exchange: Exchange, reply: SandboxReply, fault?: FaultAction): Promise<void> {
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
    // Head and body in one write, unless the body trickled.
    if (fault?.type === 'slow_body') raw.end(resolve);
    else raw.end(whole.body, resolve);
  });
}

/** Loses the reply after the request was read. A stalled one goes on when the sandbox is told to release it. */
async function lose(exchange: Exchange, reply: SandboxReply, how: LostReply): Promise<void> {
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

/** Sends fewer bytes than Content-Length says, then RST or FIN. */
async function cut(
  exchange: Exchange,
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
  // An RST overtakes bytes that the peer has not read yet; leave the kernel a moment to hand them over.
  setTimeout(() => socket.resetAndDestroy(), 50);
}

function head({ reply: { raw }, entry }: Exchange, { status, headers, body }: SandboxReply): void {
  entry.status = status;
  raw.writeHead(status, { 'content-length': String(body.length), ...headers });
}

function start(exchange: Exchange, reply: SandboxReply): void {
  head(exchange, reply);
  exchange.reply.raw.flushHeaders();
}

function sent({ core, entry }: Exchange, { length }: Buffer): void {
  core.counters.operations[entry.operation].bytes += length;
}

async function trickle(exchange: Exchange, body: Buffer, bytesPerSecond: number): Promise<void> {
  exchange.reply.raw.flushHeaders();
  const step = Math.max(1, Math.floor(bytesPerSecond / 20));
  for (let sent = 0; sent < body.length && !exchange.reply.raw.destroyed; sent += step) {
    await write(exchange, body.subarray(sent, sent + step));
    await new Promise((resolve) => setTimeout(resolve, (step / bytesPerSecond) * 1000));
  }
}

async function write(exchange: Exchange, bytes: Buffer): Promise<void> {
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
