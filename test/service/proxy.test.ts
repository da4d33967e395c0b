import { environmentConnections } from '../../src/service/connections';
import { proxyFor } from '../../src/service/proxy-environment';
import { connectProxy } from '../support/connect-proxy';
import { clientOf, jsonBody, KEY, send } from './client-under-test';
import { json, loopback } from './loopback-service';

describe('a proxy from the environment', () => {
  it('carries creates and polls in tunnels; what is said to the proxy itself holds no key', async () => {
    const proxy = await connectProxy();
    const service = await loopback((_request, response) =>
      json(response, 200, { id: 'a', status: 'queued' }),
    );
    const client = clientOf(service.origin, {
      connectionFactory: environmentConnections({ HTTP_PROXY: proxy.url }),
    });
    expect(await client.createVideo(jsonBody(), send())).toMatchObject({ class: 'accepted' });
    expect(await client.getVideo('a')).toMatchObject({ kind: 'record' });
    expect(proxy.tunnels).toEqual([`127.0.0.1:${service.port}`, `127.0.0.1:${service.port}`]);
    expect(proxy.heads.join()).not.toContain(KEY);
    expect(service.seen).toHaveLength(2);
    await client.close();
    await service.close();
    await proxy.close();
  });

  it('row 21: a refused tunnel is not sent', async () => {
    const proxy = await connectProxy({ answer: 403 });
    const service = await loopback((_request, response) => json(response, 200, { id: 'a' }));
    const client = clientOf(service.origin, {
      connectionFactory: environmentConnections({ http_proxy: proxy.url }),
    });
    let marks = 0;
    const result = await client.createVideo(jsonBody(), send(undefined, { onSend: () => void (marks += 1) }));
    expect(result).toMatchObject({ class: 'not_sent', cause: 'proxy_refused' });
    expect(marks).toBe(0);
    expect(service.seen).toHaveLength(0);
    await service.close();
    await proxy.close();
  });

  it('the address filter looks at a name before a proxy does', async () => {
    const proxy = await connectProxy();
    const service = await loopback((_request, response) => response.end('x'));
    const client = clientOf('http://api.invalid', {
      connectionFactory: environmentConnections({ HTTP_PROXY: proxy.url }),
    });
    const url = new URL(`http://localhost:${service.port}/x`);
    expect(await client.fetchContent({ url })).toMatchObject({ kind: 'blocked', reason: 'address' });
    expect(proxy.tunnels).toEqual([]);
    await client.close();
    await service.close();
    await proxy.close();
  });

  it.each([
    'http://127.0.0.1:1/x',
    'http://2130706433/x',
    'http://0x7f.1/x',
    'http://10.0.0.1/x',
    'http://169.254.169.254/latest/meta-data/',
    'http://[::1]/x',
    'http://[::ffff:192.168.0.1]/x',
    'http://[fd00:ec2::254]/x',
    'http://localhost/x',
  ])('a redirect of a download to %s is refused, and the proxy never hears of it', async (location) => {
    const proxy = await connectProxy();
    const service = await loopback((_request, response) => response.writeHead(302, { location }).end());
    const client = clientOf(service.origin, {
      connectionFactory: environmentConnections({ HTTP_PROXY: proxy.url }),
    });
    const result = await client.fetchContent({ url: client.contentUrl('a') });
    expect(result).toMatchObject({ kind: 'blocked', reason: 'address' });
    expect(proxy.asked).toEqual([`127.0.0.1:${service.port}`]);
    await client.close();
    await service.close();
    await proxy.close();
  });

  it('a name that only the proxy resolves is left to the rules of the proxy', async () => {
    const media = await loopback((_request, response) => response.end('x'));
    const proxy = await connectProxy({ names: { 'media.invalid': media.port } });
    const client = clientOf('http://api.invalid', {
      connectionFactory: environmentConnections({ HTTP_PROXY: proxy.url }),
    });
    const result = await client.fetchContent({ url: new URL('http://media.invalid/x') });
    expect(result).toMatchObject({ kind: 'body', origin: 'other' });
    if (result.kind === 'body') expect(Buffer.concat(await result.body.toArray()).toString()).toBe('x');
    expect(proxy.tunnels).toEqual(['media.invalid:80']);
    await client.close();
    await media.close();
    await proxy.close();
  });

  it('an http service: a tunnel too, in which the proxy can read what TLS would hide', async () => {
    const proxy = await connectProxy();
    const service = await loopback((_request, response) =>
      json(response, 200, { id: 'a', status: 'queued' }),
    );
    const client = clientOf(service.origin, {
      connectionFactory: environmentConnections({ HTTP_PROXY: proxy.url }),
    });
    expect(await client.createVideo(jsonBody(), send())).toMatchObject({ class: 'accepted' });
    expect([proxy.asked.length, proxy.forwarded]).toEqual([1, []]);
    expect(proxy.relayed().includes(KEY)).toBe(true);
    await client.close();
    await service.close();
    await proxy.close();
  });

  it('an unusable proxy address sends nothing', async () => {
    const client = clientOf('http://api.invalid', {
      connectionFactory: environmentConnections({ HTTP_PROXY: 'http://[' }),
    });
    expect(await client.createVideo(jsonBody(), send())).toMatchObject({
      class: 'not_sent',
      permanent: true,
    });
    expect(await client.getVideo('a')).toMatchObject({ error: 'network' });
  });

  it.each([
    ['https://h.example', { https_proxy: 'http://p:1' }, 'http://p:1'],
    ['https://h.example', { HTTPS_PROXY: 'p:1' }, 'http://p:1'],
    ['https://h.example', { HTTP_PROXY: 'http://p:1' }, 'http://p:1'],
    ['http://h.example', { HTTPS_PROXY: 'http://p:1' }, undefined],
    ['http://h.example', { HTTP_PROXY: ' ' }, undefined],
    ['http://h.example', { HTTP_PROXY: 'http://p:1', NO_PROXY: '*' }, undefined],
    ['http://h.example', { HTTP_PROXY: 'http://p:1', NO_PROXY: 'a.example, h.example' }, undefined],
    ['http://sub.h.example', { HTTP_PROXY: 'http://p:1', NO_PROXY: '.h.example' }, undefined],
    ['http://sub.h.example', { HTTP_PROXY: 'http://p:1', NO_PROXY: '*.H.example' }, undefined],
    ['http://xh.example', { HTTP_PROXY: 'http://p:1', NO_PROXY: 'h.example' }, 'http://p:1'],
    ['http://h.example:81', { HTTP_PROXY: 'http://p:1', NO_PROXY: 'h.example:80' }, 'http://p:1'],
    ['https://h.example', { HTTP_PROXY: 'http://p:1', NO_PROXY: 'h.example:443' }, undefined],
    ['http://[::1]:81', { HTTP_PROXY: 'http://p:1', no_proxy: '::1' }, undefined],
    ['http://[::1]:81', { HTTP_PROXY: 'http://p:1', no_proxy: '[::1]:81' }, undefined],
    ['http://10.1.2.3:81', { HTTP_PROXY: 'http://p:1', NO_PROXY: '10.0.0.0/8,192.168.0.0/16' }, undefined],
    ['http://11.1.2.3', { HTTP_PROXY: 'http://p:1', NO_PROXY: '10.0.0.0/8' }, 'http://p:1'],
    ['http://[fd00::1]', { HTTP_PROXY: 'http://p:1', NO_PROXY: 'fd00::/8' }, undefined],
    ['http://10.1.2.3', { HTTP_PROXY: 'http://p:1', NO_PROXY: '10.0.0.0/33, 10.0.0.0/x, /8' }, 'http://p:1'],
    ['http://h.example', { HTTP_PROXY: 'http://p:1', NO_PROXY: '0.0.0.0/0' }, 'http://p:1'],
    ['http://10.1.2.3', { HTTP_PROXY: 'http://p:1', NO_PROXY: 'fd00::/8' }, 'http://p:1'],
    ['http://h.example.', { HTTP_PROXY: 'http://p:1', NO_PROXY: 'h.example' }, undefined],
  ])('%s with %j goes through %s', (origin, env, expected) => {
    expect(proxyFor(new URL(origin), env)).toBe(expected);
  });
});
