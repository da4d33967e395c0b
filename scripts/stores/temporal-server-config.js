'use strict';
// Configuration of a Temporal server on PostgreSQL: one process with all services, on the loopback interface only.

/**
 * The sample in the server's repository has four. The number can never be changed afterwards. A production server has
 * hundreds.
 */
const HISTORY_SHARDS = 4;

/** The server starts only if the file with these values exists. docs/operations.md gives the reasons. */
const DYNAMIC_CONFIG = {
  // Otherwise `temporal workflow pause` is refused.
  'frontend.WorkflowPauseEnabled': true,
  // Otherwise a large campaign that started first delays a small one that started later.
  'matching.enableFairness': true,
  // Workflow lists: the default is 10 a second for all callers together.
  'frontend.namespaceRPS.visibility': 100,
};

/** The services for which {@link serverConfig} needs ports. */
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
    // `info` logs lines for every shard and every queue partition.
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
