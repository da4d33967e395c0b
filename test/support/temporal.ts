import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { addressSource } from '../../src/testing/temporal-server/address-source';

/** The run's Temporal server as one test file uses it. */
export interface TestServer {
  readonly client: Client;
  readonly nativeConnection: NativeConnection;
  readonly address: string;
  readonly namespace: string;
  /** A name for a queue, workflow or campaign that no other test uses. */
  uniqueId(prefix: string): string;
  /** Closes both connections; workers on them must have ended. */
  close(): Promise<void>;
}

/**
 * Connects to the server that the global set-up started or found, or to a server of the test's own.
 * @throws Error when the run has none.
 */
export async function connectTestServer(own?: {
  readonly address: string;
  readonly namespace: string;
}): Promise<TestServer> {
  const address = own?.address ?? process.env['TEST_TEMPORAL_ADDRESS'];
  const namespace = own?.namespace ?? process.env['TEST_TEMPORAL_NAMESPACE'] ?? 'default';
  if (!address) {
    throw new Error(
      'This run has no Temporal server: unset TEST_NO_SERVER, or say in test/support/needs.js that this file needs one.',
    );
  }
  const options = { ...(own ? {} : (await addressSource(process.env))?.connection), address };
  const connection = await Connection.connect(options);
  const nativeConnection = await NativeConnection.connect(options);
  return {
    client: new Client({ connection, namespace }),
    nativeConnection,
    address,
    namespace,
    uniqueId: (prefix) => `${prefix}-${randomUUID().slice(0, 8)}`,
    close: async () => {
      await nativeConnection.close();
      await connection.close();
    },
  };
}
