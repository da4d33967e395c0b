import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { type CliBench, openCliBench } from '../cli/support/cli-bench';
import { runJson } from '../cli/support/run-cli';
import { connectProxy, type ConnectProxyOptions } from '../support/connect-proxy';
import { type Issued, privateCa } from '../support/private-ca';

const SECRET = 's3cret-of-the-proxy';

describe('a worker that reaches its service through a proxy only', () => {
  let bench: CliBench;
  let front: { readonly port: number; close(): Promise<void> };
  let caFile: string;

  beforeAll(async () => {
    bench = await openCliBench({ timing: { queuedMs: 0, runningMs: 0 } });
    const ca = await privateCa();
    caFile = join(bench.dir, 'ca.pem');
    await writeFile(caFile, ca.cert);
    front = await tlsFront(await ca.issue('api.invalid'), Number(new URL(bench.sandbox.url).port));
  });
  afterAll(async () => {
    await bench.close();
    await front.close();
  });

  /** A worker with a queue and a journal of its own, and the proxy in between. */
  async function throughProxy(options: ConnectProxyOptions) {
    const proxy = await connectProxy({
      names: { 'api.invalid': front.port },
      credentials: `robot:${SECRET}`,
      ...options,
    });
    const MEDIA_TASK_QUEUE = bench.server.uniqueId('proxy');
    const env = {
      ...bench.workerEnv,
      MEDIA_TASK_QUEUE,
      MEDIA_JOURNAL: join(bench.dir, MEDIA_TASK_QUEUE),
      MEDIA_BASE_URL: 'https://api.invalid',
      HTTPS_PROXY: proxy.url.replace('//', `//robot:${SECRET}@`),
      NODE_EXTRA_CA_CERTS: caFile,
      NO_PROXY: '127.0.0.1,localhost',
    };
    return { proxy, env, worker: await bench.startWorker(env) };
  }

  const video = (env: NodeJS.ProcessEnv, prompt: string) =>
    runJson(['video', '--model', 'sketch-lite', '--prompt', prompt, '--out', bench.dir], {
      ...bench.clientEnv,
      MEDIA_TASK_QUEUE: env['MEDIA_TASK_QUEUE'],
    });

  it('[C4.4a] [C7.6] the first tunnel is refused with 502: sent again, one video, downloaded; nothing is told', async () => {
    const { proxy, env, worker } = await throughProxy({ answer: 502, refuseFirst: 1 });
    const before = (await bench.sandbox.admin.counters()).creates;
    const { code, reply } = await video(env, 'a kite behind a wall');
    expect([code, reply.data?.['outcome']]).toEqual([0, 'completed']);
    expect(reply.data?.files).toHaveLength(1);
    const after = (await bench.sandbox.admin.counters()).creates;
    expect([after.received - before.received, after.accepted - before.accepted]).toEqual([1, 1]);
    expect(proxy.asked.length).toBe(proxy.tunnels.length + 1);
    expect(new Set(proxy.asked)).toEqual(new Set(['api.invalid:443']));
    expect(proxy.forwarded).toEqual([]);
    for (const clear of ['sandbox-key', 'a kite behind a wall'])
      expect(proxy.relayed().includes(clear)).toBe(false);
    worker.child.kill('SIGTERM');
    const { stdout, stderr } = await worker.ended;
    for (const hidden of [SECRET, 'robot', 'sandbox-key']) expect(stdout + stderr).not.toContain(hidden);
    await proxy.close();
  });
});

/** Ends TLS before a server that speaks none. */
async function tlsFront(
  issued: Issued,
  port: number,
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer(issued, (socket) => {
    const up = connect(port, '127.0.0.1');
    for (const one of [socket, up]) sockets.add(one.on('error', () => socket.destroy() && up.destroy()));
    socket.pipe(up).pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
