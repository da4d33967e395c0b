import { type ConnectionOptions } from '@temporalio/client';
import type * as Envconfig from '@temporalio/envconfig';

/** Credentials and TLS for an existing server. Fits both `Connection.connect` and `NativeConnection.connect`. */
export interface ServerConnectionOptions {
  /** Sent as a bearer token. */
  readonly apiKey?: string;
  /** True or certificates to use TLS. If absent, TLS is off. */
  readonly tls?: NonNullable<ConnectionOptions['tls']>;
  /** Headers for every call. */
  readonly metadata?: Record<string, string | Buffer>;
}

/** A server that this package did not start. The package connects to it and never stops it. */
export interface AddressSource {
  readonly kind: 'address';
  /** host:port */
  readonly address: string;
  /** The namespace from the same environment or profile. */
  readonly namespace: string;
  /** The variable that points to the server. */
  readonly foundBy: 'TEMPORAL_ADDRESS' | 'TEMPORAL_PROFILE';
  /** Empty if only an address is configured. */
  readonly connection: ServerConnectionOptions;
}

/**
 * Returns the server that TEMPORAL_ADDRESS or TEMPORAL_PROFILE points to, read with @temporalio/envconfig; null if
 * neither is set. Uses a profile from the default file only if TEMPORAL_PROFILE selects it.
 * @throws Error if the named profile cannot be read or has no address, because workflows must not run on another server
 */
export async function addressSource(
  env: Readonly<Record<string, string | undefined>>,
): Promise<AddressSource | null> {
  const foundBy = env['TEMPORAL_ADDRESS']
    ? 'TEMPORAL_ADDRESS'
    : env['TEMPORAL_PROFILE']
      ? 'TEMPORAL_PROFILE'
      : null;
  if (foundBy === null) return null;
  // Loaded on demand with `require`, because test runners that load this code as CommonJS, such as jest, reject
  // `import()`.
  const { loadClientConnectConfig } = require('@temporalio/envconfig') as typeof Envconfig;
  const overrideEnvVars: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined) overrideEnvVars[name] = value;

  const { connectionOptions, namespace } = loadClientConnectConfig({ overrideEnvVars });
  const { address, apiKey, tls, metadata } = connectionOptions;
  if (!address) {
    throw new Error(
      `TEMPORAL_PROFILE names a profile without an address. Add an address to the profile or set TEMPORAL_ADDRESS.`,
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
