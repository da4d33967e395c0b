import { type AddressSource, type Environment } from './resolve';

/**
 * The server that TEMPORAL_ADDRESS or TEMPORAL_PROFILE names, read by @temporalio/envconfig, or null when neither is set.
 * A profile that merely exists in the default file does not count: nobody asked for it.
 * @throws Error when the profile is asked for but cannot be read or has no address: starting another server
 * instead would run somebody's work in the wrong place.
 */
export async function addressSource(env: Environment): Promise<AddressSource | null> {
  const foundBy = env['TEMPORAL_ADDRESS']
    ? 'TEMPORAL_ADDRESS'
    : env['TEMPORAL_PROFILE']
      ? 'TEMPORAL_PROFILE'
      : null;
  if (foundBy === null) return null;
  const { loadClientConnectConfig } = await import('@temporalio/envconfig');
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
