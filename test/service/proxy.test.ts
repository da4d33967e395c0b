import { environmentConnections } from '../../src/service/connections';
import { proxyFor } from '../../src/service/proxy-environment';
import { connectProxy } from '../support/connect-proxy';
import { clientOf, jsonBody, KEY, send } from './client-under-test';
import { json, loopback } from './loopback-service';

describe('a proxy from the environment', () => {
  it('carries creates and polls in tunnels and never sees the key', async () => {
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
    expect(await client.fetchContent({ url })).toEqual({ kind: 'blocked', reason: 'address' });
    expect(proxy.tunnels).toEqual([]);
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
  ])('%s with %j goes through %s', (origin, env, expected) => {
    expect(proxyFor(new URL(origin), env)).toBe(expected);
  });
});
