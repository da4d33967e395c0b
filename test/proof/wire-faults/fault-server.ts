import { createServer, type Server, type Socket } from 'node:net';
import { type AddressInfo } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { type Certificates } from './certificates';
import { type Peer, replyText, type Script } from './script';

/** What really reached the server: the only judge of a cell. */
export interface Arrivals {
  /** TCP connections. */
  connections: number;
  /** Requests of the operation under test of which at least one byte was read. */
  started: number;
  /** Those that came whole. */
  complete: number;
  /** Those that the service took to be paid for: as early as it could, and at most once each. */
  accepted: number;
}

export interface FaultServerOptions {
  readonly script: Script;
  /** Whether a head belongs to the operation under test; everything else gets a healthy record. */
  readonly isMeant: (requestLine: string) => boolean;
  readonly good: Peer['good'];
  readonly record: Peer['good'];
  readonly trap: string;
  /** False for replies that prove a refusal: assumption A6. */
  readonly accepts: boolean;
  readonly certificates: Certificates;
}

export interface FaultServer {
  readonly port: number;
  readonly seen: Arrivals;
  /** Of the last request that was meant. */
  lastHead(): string;
  /** From now on the script runs, and what came before is forgotten. */
  arm(): void;
  /** Does this to every connection that is open, and resolves when they are gone on both sides. */
  endOpen(how: 'closed' | 'reset'): Promise<void>;
  /** Reads what is still on the wire, then closes: after this the counts are final. */
  close(): Promise<void>;
}

/** A service on a raw socket that does one thing wrong. */
export async function faultServer(options: FaultServerOptions): Promise<FaultServer> {
  const state: State = { armed: false, fired: false, head: '' };
  const seen: Arrivals = { connections: 0, started: 0, complete: 0, accepted: 0 };
  const open = new Map<Socket, Socket>();
  const server = createServer({ allowHalfOpen: true }, (raw) => {
    seen.connections += 1;
    open.set(raw, raw);
    raw.on('error', () => undefined).on('close', () => open.delete(raw));
    converse(raw, { ...options, onSecured: (socket) => open.set(raw, socket) }, state, seen);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const gone = async (): Promise<void> => {
    await Promise.all([...open.keys()].map((raw) => new Promise((resolve) => raw.once('close', resolve))));
  };
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    lastHead: () => state.head,
    arm: () => {
      state.armed = true;
      Object.assign(seen, { connections: 0, started: 0, complete: 0, accepted: 0 });
    },
    endOpen: async (how) => {
      const all = gone();
      for (const raw of open.keys()) {
        if (how === 'reset') raw.resetAndDestroy();
        else raw.end();
      }
      await all;
    },
    close: () => closeAll(server, open, gone),
  };
}

async function closeAll(server: Server, open: Map<Socket, Socket>, gone: () => Promise<void>): Promise<void> {
  const all = gone();
  // The client is closed: what it wrote before is still to be read and counted, then comes its end.
  for (const [raw, socket] of open) {
    if (socket.readableEnded || socket.closed) raw.destroy();
    else
      socket
        .resume()
        .on('end', () => raw.destroy())
        .on('close', () => raw.destroy());
  }
  await all;
  await new Promise((resolve) => server.close(resolve));
}

type Conversation = FaultServerOptions & { readonly onSecured: (socket: Socket) => void };

interface State {
  armed: boolean;
  fired: boolean;
  head: string;
}

/** One connection from its first byte to its last: reads requests, counts them, and fires the script at its moment. */
function converse(raw: Socket, options: Conversation, state: State, seen: Arrivals): void {
  const { script } = options;
  const fire = (socket: Socket): void => {
    if (!state.armed || state.fired) return;
    state.fired = true;
    const peer = { socket, raw, good: options.good, trap: options.trap };
    void Promise.resolve(script.act(peer)).catch(() => undefined);
  };
  if (script.nobody === undefined && script.at === 'accept' && script.proxy === undefined) {
    // Every connection gets it, also that of the record before a download.
    state.fired = false;
    fire(raw);
    if (raw.destroyed) return;
  }
  if (script.tls === 'raw') {
    raw.once('data', () => {
      state.fired = false;
      fire(raw);
    });
    return;
  }
  if (script.proxy === undefined) return void read(secured(raw, options), raw, options, state, seen, fire);
  const connect = script.proxy;
  let head = '';
  const onData = (chunk: Buffer): void => {
    head += chunk.toString('latin1');
    if (!head.includes('\r\n\r\n')) return;
    raw.off('data', onData);
    const peer = { socket: raw, raw, good: options.good, trap: options.trap };
    if (connect !== 'tunnel') return void connect(peer);
    raw.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (script.at === 'accept') fire(raw);
    if (!raw.destroyed) read(secured(raw, options), raw, options, state, seen, fire);
  };
  raw.on('data', onData);
}

function secured(raw: Socket, { script, certificates, onSecured }: Conversation): Socket {
  if (script.tls === undefined || script.tls === 'raw') return raw;
  const secureContext = createSecureContext(certificates.of[script.tls]);
  const socket = new TLSSocket(raw, { isServer: true, secureContext });
  onSecured(socket);
  return socket.on('error', () => undefined);
}

/** A request that is coming in. */
interface Incoming {
  bytes: Buffer[];
  size: number;
  head: number;
  length: number;
  meant: boolean | undefined;
  counted: boolean;
  taken: boolean;
  /** Whether the script has taken this one over. */
  scripted: boolean;
}

const fresh = (): Incoming => ({
  bytes: [],
  size: 0,
  head: -1,
  length: 0,
  meant: undefined,
  counted: false,
  taken: false,
  scripted: false,
});

function read(
  socket: Socket,
  raw: Socket,
  options: FaultServerOptions,
  state: State,
  seen: Arrivals,
  fire: (socket: Socket) => void,
): void {
  const { script } = options;
  let incoming = fresh();
  const take = (): void => {
    if (incoming.meant === true && !incoming.taken && options.accepts) seen.accepted += 1;
    incoming.taken = true;
  };
  socket.on('data', (chunk: Buffer) => {
    incoming.bytes.push(chunk);
    incoming.size += chunk.length;
    if (incoming.head < 0) readHead(incoming, options, state);
    if (incoming.meant === true && !incoming.counted) {
      incoming.counted = true;
      seen.started += 1;
    }
    if (incoming.head < 0) return;
    const { meant, head, length, size } = incoming;
    const mine = meant === true && state.armed && !state.fired;
    const come = { accept: false, hello: false, head: true, half: size >= head + length / 2, request: false };
    if (mine && come[script.at]) {
      incoming.scripted = true;
      take();
      fire(socket);
    }
    if (size < head + length) return;
    if (meant === true) seen.complete += 1;
    take();
    const { scripted } = incoming;
    incoming = fresh();
    if (mine && script.at === 'request') return fire(socket);
    if (scripted || raw.destroyed || !socket.writable) return;
    const good = meant === true ? options.good : options.record;
    socket.write(replyText()({ socket, raw, good, trap: options.trap }));
  });
}

/** The first byte decides whether it is a request at all; the request line, which one. */
function readHead(incoming: Incoming, { isMeant }: FaultServerOptions, state: State): void {
  const text = Buffer.concat(incoming.bytes).toString('latin1');
  if (!/^(?:G|P)/.test(text)) return;
  const line = text.indexOf('\r\n');
  if (line >= 0) incoming.meant = isMeant(text.slice(0, line));
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return;
  incoming.head = end + 4;
  if (incoming.meant === true) state.head = text.slice(0, end);
  incoming.length = Number(/\r\ncontent-length: (\d+)/i.exec(text.slice(0, end + 2))?.[1] ?? 0);
}
