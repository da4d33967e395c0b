import { locationReader } from '../../src/settings/model-source';
import { loopback } from '../service/loopback-service';
import { connectProxy, type ConnectProxyOptions } from '../support/connect-proxy';

const read = (location: string, env: NodeJS.ProcessEnv): Promise<string> =>
  locationReader(env)(location, AbortSignal.timeout(20_000));

/** A server of configurations under a name that only the proxy resolves. */
async function behindProxy(options: ConnectProxyOptions) {
  const server = await loopback((request, response) => {
    if (request.url === '/moved')
      return void response.writeHead(302, { location: 'http://b.models.invalid/' }).end();
    response.end(`${request.headers.host} ${request.headers.authorization ?? 'no key'}`);
  });
  const names = { 'a.models.invalid': server.port, 'b.models.invalid': server.port };
  const proxy = await connectProxy({ names, ...options });
  const close = async (): Promise<void> => {
    await proxy.close();
    await server.close();
  };
  return { server, proxy, close };
}

describe('a model configuration behind a proxy', () => {
  it('[C5.3] is read through the tunnel, over redirects too, with no key', async () => {
    const { proxy, close } = await behindProxy({});
    const env = { HTTP_PROXY: proxy.url };
    expect(await read('http://a.models.invalid/', env)).toBe('a.models.invalid no key');
    expect(await read('http://a.models.invalid/moved', env)).toBe('b.models.invalid no key');
    expect(proxy.tunnels).toEqual(['a.models.invalid:80', 'a.models.invalid:80', 'b.models.invalid:80']);
    await close();
  });

  it('sends the user of HTTP_PROXY, also without a password', async () => {
    const { proxy, close } = await behindProxy({ credentials: 'token-of-the-proxy:' });
    const HTTP_PROXY = proxy.url.replace('//', '//token-of-the-proxy@');
    expect(await read('http://a.models.invalid/', { HTTP_PROXY })).toBe('a.models.invalid no key');
    await close();
  });

  it('takes NO_PROXY as calls of the service do: a host stands for its subdomains', async () => {
    const { proxy, close } = await behindProxy({});
    const env = { HTTP_PROXY: proxy.url, NO_PROXY: 'models.invalid' };
    await expect(read('http://a.models.invalid/', env)).rejects.toThrow(/ENOTFOUND|EAI_AGAIN/);
    expect(proxy.asked).toEqual([]);
    await close();
  });

  it('tells of a proxy that hangs up, after one try and without its address', async () => {
    const { proxy, close } = await behindProxy({ answer: 'hang_up' });
    const HTTP_PROXY = proxy.url.replace('//', '//robot:s3cret@');
    await expect(read('http://a.models.invalid/', { HTTP_PROXY })).rejects.toThrow(/^UND_ERR_PRX_CLOSED$/);
    expect(proxy.asked).toHaveLength(1);
    await close();
  });

  it('an unusable proxy address is an error that does not repeat it', async () => {
    await expect(read('http://a.models.invalid/', { HTTP_PROXY: 'http://robot:s3cret@[' })).rejects.toThrow(
      expect.objectContaining({ message: expect.not.stringMatching(/s3cret|robot/) as string }) as Error,
    );
  });

  it('still reads directly', async () => {
    const server = await loopback((_request, response) => response.end('direct'));
    expect(await read(`${server.origin}/`, {})).toBe('direct');
    await server.close();
  });
});
