import { join } from 'node:path';
import { type RunningTemporalServer } from '../testing/temporal-server';

/**
 * The environment in which a child worker finds this server. For a server of ours every TEMPORAL_* of the user is
 * dropped, the default profile included: its TLS and keys belong to another server.
 */
export function temporalEnvironment(
  server: RunningTemporalServer,
  env: NodeJS.ProcessEnv,
  dataDir: string,
): NodeJS.ProcessEnv {
  if (!server.startedByUs) return { ...env };
  const others = Object.entries(env).filter(
    ([name]) => !name.startsWith('TEMPORAL_') || name.startsWith('TEMPORAL_MEDIA_'),
  );
  return {
    ...Object.fromEntries(others),
    TEMPORAL_ADDRESS: server.address,
    TEMPORAL_NAMESPACE: server.namespace,
    // A file that is not there: an empty one counts as broken.
    TEMPORAL_CONFIG_FILE: join(dataDir, 'temporal-profiles.toml'),
  };
}
