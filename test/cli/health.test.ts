import { serveHealth } from '../../packages/cli/src/worker/command';

const get = async (address: string, path: string): Promise<number> =>
  (await fetch(`http://${address}${path}`)).status;

describe('the probes of a worker', () => {
  let ready = false;
  let endpoint: Awaited<ReturnType<typeof serveHealth>>;
  beforeEach(async () => {
    ready = false;
    endpoint = await serveHealth('127.0.0.1:0', { isReady: async () => ready });
  });
  afterEach(() => {
    endpoint.close();
  });

  it('is alive from its start, and ready while it takes work', async () => {
    expect([await get(endpoint.address, '/livez'), await get(endpoint.address, '/readyz')]).toEqual([
      200, 503,
    ]);
    ready = true;
    expect(await get(endpoint.address, '/readyz?verbose')).toBe(200);
    ready = false;
    expect([await get(endpoint.address, '/livez'), await get(endpoint.address, '/readyz')]).toEqual([
      200, 503,
    ]);
  });

  it('tells nothing else', async () => {
    for (const path of ['/', '/metrics', '/livez/x']) expect(await get(endpoint.address, path)).toBe(404);
  });

  it('listens on the loopback interface only where that is asked for', () => {
    expect(endpoint.address).toMatch(/^127\.0\.0\.1:\d+$/);
  });

  it('refuses an address that it cannot use, and says which one it can', async () => {
    for (const address of ['8080', 'host', 'host:99999', 'http://host:80'])
      await expect(serveHealth(address, { isReady: async () => true })).rejects.toThrow(
        /MEDIA_HEALTH_ADDRESS.*host:port, or :port/,
      );
    await expect(serveHealth(endpoint.address, { isReady: async () => true })).rejects.toThrow(/EADDRINUSE/);
  });

  it('takes an address of IPv6', async () => {
    const other = await serveHealth('[::1]:0', { isReady: async () => true }).catch((error: Error) => error);
    if (other instanceof Error) return expect(other.message).toMatch(/EADDRNOTAVAIL|EAFNOSUPPORT/);
    expect(await get(other.address, '/readyz')).toBe(200);
    return other.close();
  });
});
