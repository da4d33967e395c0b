import { createServer } from 'node:http';
import { underOwnName } from '../../src/service/content-fetch';
import { bytesOf } from './body-of';
import { clientOf, KEY } from './client-under-test';
import { loopback } from './loopback-service';

const at = (address: string) => new URL(address);

describe('a link under another name of the loopback', () => {
  it.each([
    ['http://127.0.0.1:18080/generated/a.png?sig=1', 'http://localhost:18080'],
    ['http://[::1]:18080/generated/a.png?sig=1', 'http://localhost:18080'],
    ['http://[::ffff:127.0.0.1]:18080/generated/a.png?sig=1', 'http://127.0.0.1:18080'],
    ['http://127.9.9.9:18080/generated/a.png?sig=1', 'http://127.0.0.1:18080'],
    ['http://localhost.:18080/generated/a.png?sig=1', 'http://[::1]:18080'],
    ['https://127.0.0.1/generated/a.png?sig=1', 'https://localhost'],
  ])('%s is asked for at %s', (link, own) => {
    expect(underOwnName(at(link), at(own)).href).toBe(`${at(own).origin}/generated/a.png?sig=1`);
  });

  it.each([
    ['another port', 'http://127.0.0.1:18081/a', 'http://localhost:18080'],
    ['another scheme', 'https://127.0.0.1:18080/a', 'http://localhost:18080'],
    ['a service elsewhere', 'http://127.0.0.1/a', 'http://media.example'],
    ['a link elsewhere', 'http://10.0.0.1:18080/a', 'http://localhost:18080'],
    ['a name that only begins like it', 'http://localhost.example:18080/a', 'http://localhost:18080'],
    ['the name that is configured', 'http://localhost:18080/a', 'http://localhost:18080'],
  ])('%s stays as it is', (_what, link, own) => {
    expect(underOwnName(at(link), at(own)).href).toBe(link);
  });

  it('[C5.3] [C2.5.3] is fetched from the service, with its key; no other listener of that port hears of it', async () => {
    const service = await loopback((request, response) => {
      if (request.url === '/away')
        response.writeHead(302, { location: `http://127.0.0.9:${service.port}/b` });
      response.end('picture');
    });
    const heard: string[] = [];
    const neighbour = createServer((request, response) => {
      heard.push(JSON.stringify(request.headers));
      response.end('no picture');
    });
    await new Promise<void>((resolve) => neighbour.listen(service.port, '127.0.0.9', resolve));
    const base = `http://localhost:${service.port}`;
    const client = clientOf(base);
    for (const link of [`http://127.0.0.9:${service.port}/a`, `${base}/away`]) {
      const result = await client.fetchContent({ url: at(link) });
      expect(result).toMatchObject({ kind: 'body', origin: 'service' });
      expect((await bytesOf(result)).toString()).toBe('picture');
    }
    expect(service.seen.map(({ url }) => url)).toEqual(['/a', '/away', '/b']);
    for (const { headers } of service.seen)
      expect(headers).toMatchObject({ host: `localhost:${service.port}`, authorization: `Bearer ${KEY}` });
    expect(heard).toEqual([]);
    await client.close();
    await service.close();
    await new Promise((resolve) => neighbour.close(resolve));
  });
});
