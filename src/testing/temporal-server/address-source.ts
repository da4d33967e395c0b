import { type AddressSource, type Environment } from './server-source';
import { envconfigPackage } from './temporal-packages';

/**
 * The server that TEMPORAL_ADDRESS or TEMPORAL_PROFILE names, read with @temporalio/envconfig; null if neither is set.
 * A profile in the default file is not used unless TEMPORAL_PROFILE names it.
 * @throws Error when the named profile cannot be read or has no address: starting another server instead would run
 * workflows on the wrong server.
 */
export async function addressSource(env: Environment): Promise<AddressSource | null> {
  const foundBy = env['TEMPORAL_ADDRESS']
    ? 'TEMPORAL_ADDRESS'
    : env['TEMPORAL_PROFILE']
      ? 'TEMPORAL_PROFILE'
      : null;
  if (foundBy === null) return null;
  const { loadClientConnectConfig } = envconfigPackage();
  const overrideEnvVars: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined) overrideEnvVars[name] = value;

  const { connectionOptions, namespace } = loadClientConnectConfig({ overrideEnvVars });
  const { address, apiKey, tls, metadata } = connectionOptions;
  if (!address) {
    throw new Error(
      `TEMPORAL_PROFILE names a profile without an address: add one to it or set TEMPORAL_ADDRESS.`,
    );
  }
  return {
    kind: 'address',
    address,
    namespace: namespace ?? 'default',
    foundBy,
    connection: {
      ...(typeof apiKey === 'string' && { apiKey }),
      ...(tls != null && { tls }),
      ...(metadata !== undefined && { metadata }),
    },
  };
}
