import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type Socket } from 'node:net';
import { buildConnector, Client, type Dispatcher } from 'undici';
import { type ConnectionSettings, environmentConnections } from '../../src/service/connections';
import { type VideoSendResult } from '../../src/service/media-client';
import { clientOf, jsonBody, send } from './client-under-test';
import { afterRequest, closedPort, rawLoopback } from './loopback-service';

interface Outcome {
  readonly result: VideoSendResult;
  readonly marks: number;
  /** Second witness: undici's own event just before it writes a head. */
  readonly heads: number;
  readonly connections: number;
}

async function sendTo(base: string, deadlineMs: number, connections: () => number): Promise<Outcome> {
  let marks = 0;
  let heads = 0;
  const witness = (): void => void (heads += 1);
  subscribe('undici:client:sendHeaders', witness);
  try {
    const options = send(undefined, { deadlineMs, onSend: () => void (marks += 1) });
    const result = await clientOf(base).createVideo(jsonBody(), options);
    return { result, marks, heads, connections: connections() };
  } finally {
    unsubscribe('undici:client:sendHeaders', witness);
  }
}

async function against(
  onSocket: (socket: Socket) => void,
  deadlineMs = 20_000,
  scheme = 'http',
): Promise<Outcome> {
  const server = await rawLoopback(onSocket);
  try {
    return await sendTo(`${scheme}://127.0.0.1:${server.port}`, deadlineMs, server.connections);
  } finally {
    await server.close();
  }
}

const ID = '{"id":"a","status":"queued"}';

/** By how far the wall clock is ahead of the one that never steps, in milliseconds. */
let slept = 0;
afterEach(() => {
  slept = 0;
  jest.restoreAllMocks();
});

describe('the marker', () => {
  it('[C7.6] row 20: a refused connection is not sent', async () => {
    const outcome = await sendTo(`http://127.0.0.1:${await closedPort()}`, 20_000, () => 0);
    expect(outcome.result).toMatchObject({
      class: 'not_sent',
      cause: 'connection_refused',
      permanent: false,
    });
    expect(outcome).toMatchObject({ marks: 0, heads: 0 });
  });

  it('[C7.6] row 20: a host name that does not exist is not sent', async () => {
    const outcome = await sendTo('http://does-not-exist.invalid', 20_000, () => 0);
    expect(outcome.result).toMatchObject({ class: 'not_sent' });
    expect(outcome).toMatchObject({ marks: 0, heads: 0 });
  });

  it('row 20: TLS to a plain server is not sent', async () => {
    const outcome = await against(
      (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
      20_000,
      'https',
    );
    expect(outcome.result).toMatchObject({ class: 'not_sent', cause: 'tls_failed' });
    expect(outcome).toMatchObject({ marks: 0, heads: 0 });
  });

  it('row 20: a server that closes at the first TLS byte is not sent', async () => {
    const outcome = await against(
      (socket) => socket.once('data', () => socket.resetAndDestroy()),
      20_000,
      'https',
    );
    expect(outcome.result).toMatchObject({ class: 'not_sent' });
    expect(outcome).toMatchObject({ marks: 0, heads: 0 });
  });

  it('row 20: a TLS handshake that hangs until the budget ends is not sent', async () => {
    const outcome = await against(() => undefined, 300, 'https');
    expect(outcome.result).toMatchObject({ class: 'not_sent', cause: 'connect_timeout' });
    expect(outcome).toMatchObject({ marks: 0, heads: 0 });
  });

  it('row 22: whatever a reset right after accept is, it is what the marker says', async () => {
    const { result, marks, connections } = await against((socket) => socket.resetAndDestroy());
    expect(result.class).toBe(marks === 0 ? 'not_sent' : 'unconfirmed');
    expect(connections).toBe(1);
  });

  it('[C4.4a] row 22: a reset after the body is unconfirmed, on one connection', async () => {
    const outcome = await against((socket) => afterRequest(socket, () => socket.resetAndDestroy()));
    expect(outcome.result).toEqual({
      class: 'unconfirmed',
      cause: 'connection_lost_after_send',
      headers: {},
    });
    expect(outcome).toMatchObject({ marks: 1, heads: 1, connections: 1 });
  });

  it('[C4.4a] row 22: a close after the body is unconfirmed', async () => {
    const outcome = await against((socket) => afterRequest(socket, () => socket.end()));
    expect(outcome.result).toMatchObject({ class: 'unconfirmed', cause: 'connection_lost_after_send' });
    expect(outcome).toMatchObject({ marks: 1, connections: 1 });
  });

  it('[C4.4a] row 22: silence until the budget ends is unconfirmed', async () => {
    const outcome = await against((socket) => afterRequest(socket, () => undefined), 300);
    expect(outcome.result).toMatchObject({ class: 'unconfirmed', cause: 'timeout_after_send' });
    expect(outcome).toMatchObject({ marks: 1, connections: 1 });
  });

  it('row 22: a reply that is no HTTP is unconfirmed', async () => {
    const outcome = await against((socket) => afterRequest(socket, () => socket.end('SSH-2.0-x\r\n\r\n')));
    expect(outcome.result).toMatchObject({ class: 'unconfirmed', cause: 'reply_not_http' });
  });

  it('row 22: a head that is too large is unconfirmed', async () => {
    const head = `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(40_000)}\r\n\r\n`;
    const outcome = await against((socket) => afterRequest(socket, () => socket.end(head)));
    expect(outcome.result).toMatchObject({ class: 'unconfirmed', cause: 'reply_not_http' });
  });

  it('row 32: a 200 whose body is cut is unconfirmed', async () => {
    const cut = `HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n${ID}`;
    const outcome = await against((socket) => afterRequest(socket, () => socket.end(cut)));
    expect(outcome.result).toMatchObject({ class: 'unconfirmed', cause: 'reply_truncated', httpStatus: 200 });
  });

  it('row 32: a 200 whose body drips past the budget is unconfirmed', async () => {
    const outcome = await against((socket) => {
      afterRequest(socket, () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{'));
    }, 300);
    expect(outcome.result).toMatchObject({
      class: 'unconfirmed',
      cause: 'timeout_after_send',
      httpStatus: 200,
    });
  });

  it('row 23: a 400 whose body is cut is still a 400', async () => {
    const cut = 'HTTP/1.1 400 Bad Request\r\ncontent-length: 500\r\n\r\n{"error":';
    const outcome = await against((socket) => afterRequest(socket, () => socket.end(cut)));
    expect(outcome.result).toMatchObject({ class: 'rejected', reason: 'invalid_request', httpStatus: 400 });
  });

  it('row 36: interim replies and then a drop are unconfirmed', async () => {
    const early = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(20);
    const outcome = await against((socket) => afterRequest(socket, () => socket.end(early)));
    expect(outcome.result).toMatchObject({ class: 'unconfirmed', cause: 'connection_lost_after_send' });
    expect(outcome).toMatchObject({ marks: 1, connections: 1 });
  });

  it('row 36: interim replies before the real one are ignored', async () => {
    const text = `HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: ${ID.length}\r\n\r\n${ID}`;
    const outcome = await against((socket) => afterRequest(socket, () => socket.end(text)));
    expect(outcome.result).toMatchObject({ class: 'accepted', taskId: 'a' });
  });

  it('a keep-alive connection is never used for a second create', async () => {
    const reply = `HTTP/1.1 200 OK\r\nconnection: keep-alive\r\ncontent-length: ${ID.length}\r\n\r\n${ID}`;
    const server = await rawLoopback((socket) => afterRequest(socket, () => socket.write(reply)));
    const client = clientOf(server.origin);
    await client.createVideo(jsonBody(), send());
    await client.createVideo(jsonBody(), send());
    expect(server.connections()).toBe(2);
    await server.close();
  });

  it('each paid call has one socket of its own, which is gone afterwards', async () => {
    const reply = `HTTP/1.1 200 OK\r\ncontent-length: ${ID.length}\r\n\r\n${ID}`;
    const server = await rawLoopback((socket) => afterRequest(socket, () => socket.write(reply)));
    const opened: { settings: ConnectionSettings; dispatcher: Dispatcher }[] = [];
    const direct = environmentConnections({});
    const client = clientOf(server.origin, {
      connectionFactory: (origin, settings) => {
        const connection = direct(origin, settings);
        opened.push({ settings, dispatcher: connection.dispatcher });
        return connection;
      },
    });
    await client.createVideo(jsonBody(), send());
    expect(opened).toHaveLength(1);
    expect(opened[0]?.settings).toMatchObject({ purpose: 'paid', connections: 1 });
    expect(opened[0]?.dispatcher).toBeInstanceOf(Client);
    expect((opened[0]?.dispatcher as Client).destroyed).toBe(true);
    await server.close();
  });

  it('closing the client does not cut a paid call', async () => {
    const server = await rawLoopback((socket) => {
      afterRequest(socket, () => {
        void client.close().then(() => {
          socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${ID.length}\r\n\r\n${ID}`);
        });
      });
    });
    const client = clientOf(server.origin);
    expect(await client.createVideo(jsonBody(), send())).toMatchObject({ class: 'accepted', taskId: 'a' });
    await server.close();
  });

  it('a listener that throws at the send does not stop it', async () => {
    const server = await rawLoopback((socket) => {
      afterRequest(socket, () => socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${ID.length}\r\n\r\n${ID}`));
    });
    const onSend = (): never => {
      throw new Error('listener');
    };
    const result = await clientOf(server.origin).createVideo(jsonBody(), send(undefined, { onSend }));
    expect(result).toMatchObject({ class: 'accepted' });
    await server.close();
  });

  it.each([
    // The clock goes on, and no timer of this process has fired when the socket is there.
    ['a process', () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)],
    // Neither the clock that never steps nor a timer goes on.
    ['a machine', () => void (slept = 300)],
  ])(
    '[C7.6] %s that stands still while it connects, until the budget is over, sends nothing',
    async (_, stand) => {
      const wall = Date.now;
      jest.spyOn(Date, 'now').mockImplementation(() => wall() + slept);
      let bytes = 0;
      const server = await rawLoopback((socket) => void socket.on('data', ({ length }) => (bytes += length)));
      const connect = buildConnector({});
      const connector: typeof connect = (options, callback) =>
        connect(options, (...connected) => {
          stand();
          callback(...connected);
        });
      let marks = 0;
      const client = clientOf(server.origin, {
        connectionFactory: (origin, settings) =>
          environmentConnections({})(origin, { ...settings, connector }),
      });
      const onSend = (): void => void (marks += 1);
      const result = await client.createVideo(jsonBody(), send(undefined, { deadlineMs: 200, onSend }));
      expect(result).toMatchObject({ class: 'not_sent', cause: 'connect_timeout', permanent: false });
      expect([marks, bytes]).toEqual([0, 0]);
      await client.close();
      await server.close();
    },
  );

  it('a budget that is over before the call sends nothing', async () => {
    const server = await rawLoopback(() => undefined);
    const result = await clientOf(server.origin).createVideo(jsonBody(), send(undefined, { deadlineMs: 0 }));
    expect(result.class).toBe('not_sent');
    expect(server.connections()).toBe(0);
    await server.close();
  });
});
