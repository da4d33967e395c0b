import { parseListenAddress, socketAddress } from '../../packages/cli/src/worker/command';

describe('addresses on which a worker listens', () => {
  it('are host:port, or :port for all interfaces', () => {
    expect(parseListenAddress(':9464', 'X')).toEqual({ host: undefined, port: 9464 });
    expect(parseListenAddress('[::1]:1', 'X')).toEqual({ host: '::1', port: 1 });
    for (const address of ['9464', 'host', 'host:99999', 'http://host:80'])
      expect(() => parseListenAddress(address, 'MEDIA_METRICS_ADDRESS')).toThrow(
        /MEDIA_METRICS_ADDRESS.*host:port, or :port/,
      );
  });

  it('are resolved for a server that takes numbers only', async () => {
    expect(await socketAddress(':9464', 'X')).toBe('0.0.0.0:9464');
    expect(await socketAddress('127.0.0.1:9464', 'X')).toBe('127.0.0.1:9464');
    expect(await socketAddress('[::1]:9464', 'X')).toBe('[::1]:9464');
    expect(await socketAddress('localhost:9464', 'X')).toMatch(/^(127\.0\.0\.1|\[::1\]):9464$/);
    await expect(socketAddress('127.0.0.1:0', 'X')).rejects.toThrow(/fixed port for the scraper/);
  });
});
