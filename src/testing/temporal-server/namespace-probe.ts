import { type Connection } from '@temporalio/client';
import { formatRetention } from './retention';
import { type ServerConnectionOptions } from './source';

/** Bound of one gRPC call in milliseconds. */
const CALL_MS = 5_000;

/** A server to talk to and the namespace that is wanted there. */
export interface ProbeTarget {
  readonly address: string;
  readonly namespace: string;
  readonly connection?: ServerConnectionOptions;
}

/**
 * Asks the server for its system info and the namespace, and sets the namespace's retention when one is given.
 * @returns the retention that DescribeNamespace reports afterwards, like `72h`.
 * @throws the gRPC error when the server does not answer within 5 s per call or does not know the namespace.
 */
export async function probeNamespace(target: ProbeTarget, setRetentionSeconds?: number): Promise<string> {
  const { Connection } = await import('@temporalio/client');
  const connection = await Connection.connect({
    ...target.connection,
    address: target.address,
    connectTimeout: CALL_MS,
  });
  try {
    await call(connection, () => connection.workflowService.getSystemInfo({}));
    if (setRetentionSeconds !== undefined) {
      await call(connection, () =>
        connection.workflowService.updateNamespace({
          namespace: target.namespace,
          config: { workflowExecutionRetentionTtl: { seconds: setRetentionSeconds } as never },
        }),
      );
    }
    const { config } = await call(connection, () =>
      connection.workflowService.describeNamespace({ namespace: target.namespace }),
    );
    return formatRetention(Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0));
  } finally {
    await connection.close();
  }
}

function call<R>(connection: Connection, request: () => Promise<R>): Promise<R> {
  return connection.withDeadline(Date.now() + CALL_MS, request);
}
