import { type Socket } from 'node:net';
import { type Answer } from '../../activities/download-harness';

/** Bytes on the socket itself, past everything that a decent server would refuse to send. The socket is closed after them. */
export const raw =
  (...parts: readonly (string | Uint8Array)[]): Answer =>
  (_request, response) => {
    const socket = socketOf(response.socket);
    socket.end(
      Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part))),
    );
  };

/** A head by hand and a body: `head` holds the status line and fields, without the empty line. */
export const reply = (head: readonly string[], ...body: readonly (string | Uint8Array)[]): Answer =>
  raw(`${head.join('\r\n')}\r\n\r\n`, ...body);

export const ok = (fields: readonly string[], ...body: readonly (string | Uint8Array)[]): Answer =>
  reply(['HTTP/1.1 200 OK', 'content-type: video/mp4', ...fields], ...body);

/** Sends `begin`, then `piece` again and again: every `everyMs`, or as fast as the reader takes it. Until it hangs up. */
export const endless =
  (begin: string | Uint8Array, piece: string | Uint8Array, everyMs?: number): Answer =>
  (_request, response) => {
    const socket = socketOf(response.socket);
    socket.write(begin);
    if (everyMs !== undefined) {
      const timer = setInterval(() => socket.write(piece), everyMs);
      socket.once('close', () => clearInterval(timer));
      return;
    }
    const more = () => {
      while (!socket.destroyed && socket.write(piece));
    };
    socket.on('drain', more);
    more();
  };

/** Takes the request and says nothing. */
export const silence: Answer = () => undefined;

/** Ends the connection with a reset. */
export const reset: Answer = (_request, response) => void socketOf(response.socket).resetAndDestroy();

function socketOf(socket: Socket | null): Socket {
  if (socket === null) throw new Error('The connection is gone.');
  socket.on('error', () => undefined);
  return socket;
}

/** One chunk of the chunked encoding. */
export const chunk = (bytes: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
