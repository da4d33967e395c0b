import { environmentConnections } from '../../src/service/connections';
import { type ConnectProxy, connectProxy, type ConnectProxyOptions } from '../support/connect-proxy';
import { privateCa } from '../support/private-ca';
import { clientOf, jsonBody, KEY, send } from './client-under-test';
import { json, loopback, type Loopback } from './loopback-service';

const CREDENTIALS = 'robot:s3cret-of-the-proxy';

interface Bench {
  readonly proxy: ConnectProxy;
  readonly service: Loopback;
  /** What HTTP_PROXY and HTTPS_PROXY hold. */
  readonly connections: ReturnType<typeof environmentConnections>;
}

/** A service that accepts everything, and a proxy before it. */
async function through<T>(
  options: ConnectProxyOptions & { readonly userinfo?: string; readonly https?: boolean },
  act: (bench: Bench) => Promise<T>,
): Promise<T> {
  const tls = options.https === true ? await (await privateCa()).issue('localhost') : undefined;
  const service = await loopback(
    (_request, response) => json(response, 200, { id: 'a', status: 'queued' }),
    tls,
  );
  const proxy = await connectProxy(options);
  const address = proxy.url.replace(
    '//',
    `//${options.userinfo === undefined ? '' : `${options.userinfo}@`}`,
  );
  const connections = environmentConnections({ HTTP_PROXY: address, HTTPS_PROXY: address });
  try {
    return await act({ proxy, service, connections });
  } finally {
    await proxy.close();
    await service.close();
  }
}

describe('a create through a proxy that opens no tunnel', () => {
  it.each([
    [407, 'proxy_refused'],
    [403, 'proxy_refused'],
    [429, 'proxy_refused'],
    [500, 'proxy_refused'],
    [502, 'proxy_refused'],
    [503, 'proxy_refused'],
    [504, 'proxy_refused'],
    ['hang_up', 'proxy_refused'],
    ['silence', 'connect_timeout'],
  ] as const)('row 21: %s to CONNECT is not sent, for this reason: %s', async (answer, cause) => {
    await through({ answer }, async ({ proxy, service, connections }) => {
      const client = clientOf(service.origin, { connectionFactory: connections });
      let marks = 0;
      const options = {
        onSend: () => void (marks += 1),
        ...(answer === 'silence' ? { deadlineMs: 300 } : {}),
      };
      const result = await client.createVideo(jsonBody(), send(undefined, options));
      expect(result).toMatchObject({ class: 'not_sent', cause, permanent: false });
      expect([marks, service.seen.length, proxy.asked.length]).toEqual([0, 0, 1]);
      await client.close();
    });
  });

  it('row 20: a certificate that is not trusted, seen inside the tunnel, is permanent and not sent', async () => {
    await through({ https: true }, async ({ proxy, service, connections }) => {
      const client = clientOf(service.origin, { connectionFactory: connections });
      const result = await client.createVideo(jsonBody(), send());
      expect(result).toMatchObject({ class: 'not_sent', cause: 'certificate_not_trusted', permanent: true });
      expect([proxy.tunnels.length, service.seen.length]).toEqual([1, 0]);
      await client.close();
    });
  });

  it('row 20: a service that speaks no TLS inside the tunnel gets nothing', async () => {
    await through({}, async ({ service, connections }) => {
      const client = clientOf(service.origin.replace('http:', 'https:'), { connectionFactory: connections });
      const result = await client.createVideo(jsonBody(), send());
      expect(result).toMatchObject({ class: 'not_sent', cause: 'tls_failed' });
      expect(service.seen).toEqual([]);
      await client.close();
    });
  });
});

describe('a proxy that cuts a tunnel after the request', () => {
  it('[C4.4a] row 22: unconfirmed, the service got one create and the proxy one CONNECT', async () => {
    await through({ cutsReplies: true }, async ({ proxy, service, connections }) => {
      const client = clientOf(service.origin, { connectionFactory: connections });
      let marks = 0;
      const result = await client.createVideo(
        jsonBody(),
        send(undefined, { onSend: () => void (marks += 1) }),
      );
      expect(result).toMatchObject({ class: 'unconfirmed', cause: 'connection_lost_after_send' });
      expect([marks, service.seen.length, proxy.asked.length]).toEqual([1, 1, 1]);
      await client.close();
    });
  });
});

describe('a proxy that never answers CONNECT', () => {
  it.each(['poll', 'content', 'media'] as const)(
    'costs a %s call its connect timeout, not minutes',
    async (purpose) => {
      await through({ answer: 'silence' }, async ({ service, connections }) => {
        const { dispatcher } = connections(new URL(service.origin), {
          purpose,
          connections: 1,
          connectTimeoutMs: 200,
          headersTimeoutMs: 30_000,
          bodyTimeoutMs: 30_000,
        });
        await expect(
          dispatcher.request({ origin: service.origin, path: '/', method: 'GET' }),
        ).rejects.toMatchObject({
          code: 'UND_ERR_CONNECT_TIMEOUT',
        });
        await dispatcher.destroy();
      });
    },
    20_000,
  );
});

describe('credentials of a proxy', () => {
  it.each([
    ['user and password', 'robot:s3cret-of-the-proxy', CREDENTIALS],
    ['percent-encoded ones', 'ro%40bot:s3%3Acret%2Fx', 'ro@bot:s3:cret/x'],
    ['a user alone', 'token-of-the-proxy', 'token-of-the-proxy:'],
    ['an empty password', 'token-of-the-proxy:', 'token-of-the-proxy:'],
    ['a password alone', ':only-a-password', ':only-a-password'],
  ])('%s are sent to the proxy, and to nobody else', async (_name, userinfo, credentials) => {
    await through({ userinfo, credentials }, async ({ proxy, service, connections }) => {
      const client = clientOf(service.origin, { connectionFactory: connections });
      expect(await client.createVideo(jsonBody(), send())).toMatchObject({ class: 'accepted' });
      expect(await client.getVideo('a')).toMatchObject({ kind: 'record' });
      expect(proxy.tunnels).toHaveLength(2);
      expect(JSON.stringify(service.seen.map(({ rawHeaders }) => rawHeaders))).not.toMatch(/proxy-auth/i);
      await client.close();
    });
  });

  it('[C5.4a] wrong ones: not sent, and neither they nor the key are in a result', async () => {
    await through({ userinfo: CREDENTIALS, credentials: 'other:one' }, async ({ service, connections }) => {
      const client = clientOf(service.origin, { connectionFactory: connections });
      const results = [
        await client.createVideo(jsonBody(), send()),
        await client.getVideo('a'),
        await client.fetchContent({ url: client.contentUrl('a') }),
      ];
      expect(results).toMatchObject([{ class: 'not_sent' }, { error: 'network' }, { kind: 'network' }]);
      const shown = JSON.stringify(results);
      for (const secret of [KEY, 's3cret-of-the-proxy', 'robot', Buffer.from(CREDENTIALS).toString('base64')])
        expect(shown).not.toContain(secret);
      expect(service.seen).toEqual([]);
      await client.close();
    });
  });

  it('that cannot be decoded send nothing, and are not repeated', async () => {
    await through({ userinfo: 'robot:%zz-broken' }, async ({ proxy, service, connections }) => {
      const client = clientOf(service.origin, { connectionFactory: connections });
      const result = await client.createVideo(jsonBody(), send());
      expect(result).toMatchObject({ class: 'not_sent', cause: 'proxy_misconfigured', permanent: true });
      expect(JSON.stringify(result)).not.toContain('broken');
      expect(proxy.asked).toEqual([]);
      await client.close();
    });
  });
});
