import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { addressSource } from '../../src/client/address-source';
import { eventually } from './eventually';
import { pluginsOfTests, showStoredHistories } from './stored-payloads';

/** More than any run lasts, and what every server agrees to. */
const RETENTION_SECONDS = 86_400;

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
 * Connects to the server that the global set-up started or found, or to a server or a namespace of the test's own.
 * @throws Error when the run has none.
 */
export async function connectTestServer(own?: {
  /** @default that of the run */
  readonly address?: string;
  readonly namespace: string;
}): Promise<TestServer> {
  const address = own?.address ?? process.env['TEST_TEMPORAL_ADDRESS'];
  const namespace = own?.namespace ?? process.env['TEST_TEMPORAL_NAMESPACE'] ?? 'default';
  if (!address) {
    throw new Error(
      'This run has no Temporal server: unset TEST_NO_SERVER, or say in test/support/needs.js that this file needs one.',
    );
  }
  const options = {
    ...(own?.address === undefined && (await addressSource(process.env))?.connection),
    address,
  };
  const plugins = await pluginsOfTests(namespace);
  const connection = await Connection.connect({ ...options, plugins });
  const nativeConnection = await NativeConnection.connect({ ...options, plugins });
  const client = new Client({ connection, namespace });
  showStoredHistories(client);
  return {
    client,
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

/**
 * Registers a namespace on the run's server for a test whose workflows nobody else may see in a list, and waits until
 * the server takes work in it.
 */
export async function ownNamespace(): Promise<{ readonly namespace: string }> {
  const server = await connectTestServer();
  const namespace = server.uniqueId('namespace');
  const { workflowService } = server.client.connection;
  try {
    await workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: { seconds: RETENTION_SECONDS as never },
    });
    await eventually(`the namespace ${namespace} taken up`, () =>
      workflowService.countWorkflowExecutions({ namespace }).then(
        () => true,
        () => false,
      ),
    );
  } finally {
    await server.close();
  }
  return { namespace };
}
