'use strict';
// What a Temporal server on PostgreSQL is told: one process with all services, on the loopback interface only.

/**
 * The sample of the server's repository has four. The number can never be changed afterwards; a production server has
 * some hundreds.
 */
const HISTORY_SHARDS = 4;

/** The server starts only if the file with these is there. docs/operations.md gives the reasons. */
const DYNAMIC_CONFIG = {
  // Else `temporal workflow pause` is refused.
  'frontend.WorkflowPauseEnabled': true,
  // Else a large campaign that was bought first delays a small one that was bought later.
  'matching.enableFairness': true,
  // Lists of workflows: 10 a second unless told otherwise, for all who ask.
  'frontend.namespaceRPS.visibility': 100,
};

/** Ports that {@link serverConfig} wants, by service. */
const SERVICES = ['frontend', 'history', 'matching', 'worker'];

/** @returns the text of the dynamic configuration; JSON is YAML */
function dynamicConfigText(more = {}) {
  const values = Object.entries({ ...DYNAMIC_CONFIG, ...more });
  return JSON.stringify(Object.fromEntries(values.map(([key, value]) => [key, [{ value }]])), null, 2);
}

/**
 * @param {{ports: Record<string, {grpc: number, membership: number}>, databasePort: number, user: string,
 *   databases: {default: string, visibility: string}, dynamicConfigFile: string}} options
 * @returns the text of the configuration; JSON is YAML
 */
function serverConfig({ ports, databasePort, user, databases, dynamicConfigFile }) {
  const store = (databaseName, maxConns) => ({
    sql: {
      pluginName: 'postgres12',
      databaseName,
      connectAddr: `127.0.0.1:${databasePort}`,
      connectProtocol: 'tcp',
      user,
      maxConns,
      maxIdleConns: maxConns,
      maxConnLifetime: '1h',
    },
  });
  const service = ({ grpc, membership }) => ({
    rpc: { grpcPort: grpc, membershipPort: membership, bindOnLocalHost: true },
  });
  const config = {
    // `info` has lines for every shard and every part of a queue.
    log: { stdout: true, level: 'warn' },
    persistence: {
      numHistoryShards: HISTORY_SHARDS,
      defaultStore: 'default',
      visibilityStore: 'visibility',
      datastores: { default: store(databases.default, 20), visibility: store(databases.visibility, 10) },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' } },
    services: Object.fromEntries(SERVICES.map((name) => [name, service(ports[name])])),
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: {
          enabled: true,
          initialFailoverVersion: 1,
          rpcName: 'frontend',
          rpcAddress: `127.0.0.1:${ports.frontend.grpc}`,
        },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    dynamicConfigClient: { filepath: dynamicConfigFile, pollInterval: '10s' },
  };
  return JSON.stringify(config, null, 2);
}

module.exports = { dynamicConfigText, HISTORY_SHARDS, serverConfig, SERVICES };
