import { type Socket } from 'node:net';

/** The four calls that a fault can meet; a generation differs from a create in nothing but its path and reply. */
export const OPERATIONS = ['create', 'edit', 'poll', 'content'] as const;
export type Operation = (typeof OPERATIONS)[number];
export type PaidOperation = 'create' | 'edit';

export const isPaid = (operation: Operation): operation is PaidOperation =>
  operation === 'create' || operation === 'edit';

/** How far the server lets a request come before it acts; `hello` is the first byte of a TLS handshake. */
export type Moment = 'accept' | 'hello' | 'head' | 'half' | 'request';

/** One connection, as an act sees it. */
export interface Peer {
  /** Plain text of the conversation; inside TLS the decrypted one. */
  readonly socket: Socket;
  /** The TCP connection below it. */
  readonly raw: Socket;
  /** A whole healthy answer to the operation: its media type and bytes. */
  readonly good: { readonly type: string; readonly body: Buffer };
  /** Another origin, on which nothing paid may ever arrive. */
  readonly trap: string;
}

export type Act = (peer: Peer) => void | Promise<void>;

/** What one faulty service does, once, to the first request that it is for. */
export interface Script {
  readonly at: Moment;
  readonly act: Act;
  /** Nobody listens, or the name does not exist. */
  readonly nobody?: 'port' | 'name';
  /** `raw`: the client speaks TLS and the server does not. */
  readonly tls?: 'raw' | 'trusted' | 'unknown' | 'expired' | 'other_name';
  /** The server is the client's own egress proxy: opens the tunnel, or does this to CONNECT. */
  readonly proxy?: 'tunnel' | Act;
  /** The client has called before on a keep-alive connection, which then was kept, closed or reset. */
  readonly before?: 'kept' | 'closed' | 'reset';
  /** The fault is silence or endlessness: the client gets short limits. */
  readonly hangs?: true;
}

export const onAccept = (act: Act): Script => ({ at: 'accept', act });
export const afterHead = (act: Act): Script => ({ at: 'head', act });
/** In the middle of an upload: paid calls get a body of several MiB. */
export const inBody = (act: Act): Script => ({ at: 'half', act });
export const afterRequest = (act: Act): Script => ({ at: 'request', act });
export const hanging = (script: Script): Script => ({ ...script, hangs: true });
export const noTls = (act: Act): Script => ({ at: 'hello', tls: 'raw', act });
export const overTls = (tls: 'trusted' | 'unknown' | 'expired' | 'other_name', script: Script): Script => ({
  ...script,
  tls,
});
export const connectGets = (act: Act): Script => ({ ...afterRequest(answer()), proxy: act });
export const inTunnel = (script: Script): Script => ({ ...script, proxy: 'tunnel' });
export const before = (what: 'kept' | 'closed' | 'reset', script: Script): Script => ({
  ...script,
  before: what,
});

export const reset: Act = ({ raw }) => void raw.resetAndDestroy();
/** Ends its half of the connection and goes on reading. */
export const fin: Act = ({ socket }) => void socket.end();
export const close: Act = ({ raw }) => void raw.destroy();
export const silence: Act = () => undefined;
/** Takes no further byte off the wire. */
export const stopReading: Act = ({ socket }) => void socket.pause();

type Text = string | Buffer | ((peer: Peer) => string | Buffer);
const textFor = (text: Text, peer: Peer): Buffer => {
  const made = typeof text === 'function' ? text(peer) : text;
  return typeof made === 'string' ? Buffer.from(made, 'latin1') : made;
};

/** Writes, and has written when the next act begins. */
export const say =
  (text: Text): Act =>
  (peer) =>
    new Promise((resolve) => peer.socket.write(textFor(text, peer), () => setImmediate(resolve)));

/** One byte to a packet, as far as the kernel lets us. */
/** Head, framing and whole replies are shorter. A video in single bytes would be as slow as the machine is busy, and given up. */
const SINGLE_BYTES = 4_096;

export const sayByteByByte =
  (text: Text): Act =>
  async (peer) => {
    peer.socket.setNoDelay(true);
    const bytes = textFor(text, peer);
    for (const byte of bytes.subarray(0, SINGLE_BYTES)) {
      if (peer.socket.destroyed) return;
      await say(Buffer.of(byte))(peer);
    }
    if (bytes.length > SINGLE_BYTES) await say(bytes.subarray(SINGLE_BYTES))(peer);
  };

/** The same text again and again until the other side is gone. */
export const sayForEver =
  (text: string, everyMs: number): Act =>
  ({ socket }) => {
    const timer = setInterval(() => void socket.write(text), everyMs);
    socket.on('close', () => clearInterval(timer));
  };

export const inTurn =
  (...acts: readonly Act[]): Act =>
  async (peer) => {
    for (const act of acts) await act(peer);
  };

export interface Answer {
  /** @default '200 OK' */
  readonly status?: string;
  /** Whole lines; `{trap}` stands for the other origin. */
  readonly headers?: readonly string[];
  /** What becomes of the healthy body. */
  readonly body?: string | Buffer | ((good: Buffer) => string | Buffer);
  /** How the end of the body is told; `none` leaves it to `headers`. @default 'length' */
  readonly framing?: 'length' | 'chunked' | 'none';
}

/** Bytes of a reply. */
export const replyText =
  ({ status = '200 OK', headers = [], body, framing = 'length' }: Answer = {}) =>
  ({ good, trap }: Peer): Buffer => {
    const made = typeof body === 'function' ? body(good.body) : (body ?? good.body);
    const bytes = typeof made === 'string' ? Buffer.from(made, 'utf8') : made;
    const lines = [
      `HTTP/1.1 ${status}`,
      ...(headers.some((line) => /^content-type:/i.test(line)) ? [] : [`content-type: ${good.type}`]),
      ...(framing === 'length' ? [`content-length: ${bytes.length}`] : []),
      ...(framing === 'chunked' ? ['transfer-encoding: chunked'] : []),
      ...headers.map((line) => line.replace('{trap}', trap)),
    ];
    const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
    if (framing !== 'chunked') return Buffer.concat([head, bytes]);
    const chunk = Buffer.concat([
      Buffer.from(`${bytes.length.toString(16)}\r\n`),
      bytes,
      Buffer.from('\r\n0\r\n\r\n'),
    ]);
    return Buffer.concat([head, bytes.length === 0 ? Buffer.from('0\r\n\r\n') : chunk]);
  };

/** A reply and nothing strange after it. */
export function answer(given?: Answer): Act {
  return say(replyText(given));
}

/** The first part of a reply: all of its head, or a fraction of everything. */
export const firstPart =
  (of: 'head' | number, given?: Answer) =>
  (peer: Peer): Buffer => {
    const whole = replyText(given)(peer);
    const head = whole.indexOf('\r\n\r\n') + 4;
    return whole.subarray(0, of === 'head' ? head - 6 : head + Math.floor((whole.length - head) * of));
  };
