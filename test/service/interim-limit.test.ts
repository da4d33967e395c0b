import { clientOf } from './client-under-test';
import { afterRequest, rawLoopback } from './loopback-service';

const EARLY = 'HTTP/1.1 103 Early Hints\r\n\r\n';

describe('interim replies to a GET', () => {
  it('[C8.6] that never end do not hold a poll or a download for ever', async () => {
    const server = await rawLoopback((socket) => {
      afterRequest(socket, () => {
        const drip = setInterval(() => void socket.write(EARLY), 20);
        socket.on('close', () => clearInterval(drip));
      });
    });
    const client = clientOf(server.origin, { timeouts: { pollHeadersMs: 200 } });
    const url = client.contentUrl('a');
    await expect(client.getVideo('a')).resolves.toEqual({ kind: 'error', error: 'network' });
    await expect(client.fetchContent({ url, headersTimeoutMs: 200 })).resolves.toEqual({
      kind: 'network',
      code: 'UND_ERR_HEADERS_TIMEOUT',
      retryable: true,
    });
    await client.close();
    await server.close();
  });

  it('before the reply are ignored', async () => {
    const record = '{"id":"a","status":"queued"}';
    const server = await rawLoopback((socket) => {
      const head = `HTTP/1.1 200 OK\r\ncontent-length: ${record.length}\r\n\r\n`;
      afterRequest(socket, () => void socket.write(`${EARLY}${EARLY}${head}${record}`));
    });
    const client = clientOf(server.origin);
    await expect(client.getVideo('a')).resolves.toMatchObject({ kind: 'record' });
    await client.close();
    await server.close();
  });
});
