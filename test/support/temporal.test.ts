import { connectTestServer, type TestServer } from './temporal';

describe('connectTestServer', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await connectTestServer();
  });
  afterAll(() => server.close());

  test('both connections reach the namespace of the run', async () => {
    const { namespace, client, nativeConnection } = server;
    const seen = await Promise.all(
      [client.connection, nativeConnection].map((c) => c.workflowService.describeNamespace({ namespace })),
    );
    expect(seen.map((d) => d.namespaceInfo?.name)).toEqual([namespace, namespace]);
  });

  test('unique ids differ', () => {
    expect(server.uniqueId('queue')).toMatch(/^queue-[0-9a-f]{8}$/);
    expect(server.uniqueId('queue')).not.toBe(server.uniqueId('queue'));
  });
});
