import { isBareAddress } from '../codec/bare-address';
import { type DevState } from '../dev-state';
import { shownLocation } from '../shown-location';
import { type ConfigValue, masked, type ValueOrigin } from './config-value';
import { unknownVariables } from './media-values';
import { readTemporalProfile } from './temporal-profile';

const SECRET: ReadonlySet<string> = new Set([
  'TEMPORAL_API_KEY',
  'TEMPORAL_TLS_CLIENT_CERT_DATA',
  'TEMPORAL_TLS_CLIENT_KEY_DATA',
  'TEMPORAL_TLS_SERVER_CA_CERT_DATA',
  'TEMPORAL_CODEC_AUTH',
]);

/** Always shown; the others only where they are set. */
const ALWAYS = [
  'TEMPORAL_PROFILE',
  'TEMPORAL_CONFIG_FILE',
  'TEMPORAL_ADDRESS',
  'TEMPORAL_NAMESPACE',
  'TEMPORAL_API_KEY',
  'TEMPORAL_TLS',
];
const OTHERS = [
  'TEMPORAL_TLS_SERVER_NAME',
  'TEMPORAL_TLS_CLIENT_CERT_PATH',
  'TEMPORAL_TLS_CLIENT_CERT_DATA',
  'TEMPORAL_TLS_CLIENT_KEY_PATH',
  'TEMPORAL_TLS_CLIENT_KEY_DATA',
  'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
  'TEMPORAL_TLS_SERVER_CA_CERT_DATA',
  'TEMPORAL_TLS_DISABLE_HOST_VERIFICATION',
  'TEMPORAL_CODEC_ENDPOINT',
  'TEMPORAL_CODEC_AUTH',
  'TEMPORAL_CLI_PATH',
  'TEMPORAL_MEDIA_DEBUG',
];
/** Headers of every call; names and values are the user's own. */
const META = 'TEMPORAL_GRPC_META_';

const DEFAULTS: { readonly [name: string]: string } = {
  TEMPORAL_PROFILE: 'default',
  TEMPORAL_ADDRESS: 'localhost:7233',
  TEMPORAL_NAMESPACE: 'default',
};

/** Every TEMPORAL_* value in force. `dev` is the one that runs on the data directory, whatever it serves. */
export function temporalValues(env: NodeJS.ProcessEnv, dev: DevState | undefined): ConfigValue[] {
  // The order of `connect`: a server that is named wins over `dev`, `dev` over the default profile.
  const named = Boolean(env['TEMPORAL_ADDRESS'] || env['TEMPORAL_PROFILE']);
  const devInForce = named ? undefined : dev;
  const profile = devInForce === undefined ? readTemporalProfile(env) : { values: {} };
  const fromDev: { readonly [name: string]: string } =
    devInForce === undefined
      ? {}
      : { TEMPORAL_ADDRESS: devInForce.address, TEMPORAL_NAMESPACE: devInForce.namespace };
  const headers = Object.keys({ ...env, ...profile.values }).filter((name) => name.startsWith(META));
  const known = [...ALWAYS, ...OTHERS, ...headers];
  const values = known.flatMap((name): ConfigValue[] => {
    const set = env[name] || undefined;
    const [value, origin] = first(
      [set, 'environment'],
      [fromDev[name], 'dev'],
      [profile.values[name], 'file'],
      [DEFAULTS[name], 'default'],
    );
    if (value === null && !ALWAYS.includes(name)) return [];
    const secret = SECRET.has(name) || name.startsWith(META);
    const problem = name === problemOf(env) ? profile.problem : undefined;
    const unused = devInForce !== undefined && set !== undefined && CONNECTION.test(name);
    return [
      {
        name,
        value:
          value === null ? null : secret || mayHoldSecret(name, value) ? masked(value) : shownLocation(value),
        origin,
        secret,
        ...(problem !== undefined && { problem }),
        ...(unused && { note: 'not used: the server is that of `temporal-media dev`' }),
      },
    ];
  });
  // Other programs have TEMPORAL_* variables too: only what looks like a slip is shown.
  const slips = unknownVariables(env, 'TEMPORAL_', known).filter(({ nearest }) => nearest !== null);
  return [...values, ...slips];
}

/** An address that commands refuse, because what opens it belongs elsewhere, may hold just that. */
function mayHoldSecret(name: string, value: string): boolean {
  if (name !== 'TEMPORAL_CODEC_ENDPOINT') return false;
  try {
    return !isBareAddress(new URL(value));
  } catch {
    return true;
  }
}

/** Settings of a connection that commands leave out where they use the server of `dev`. */
const CONNECTION = /^TEMPORAL_(API_KEY|TLS|CODEC_|GRPC_META_)/;

/** The variable that a broken profile is shown at. */
function problemOf(env: NodeJS.ProcessEnv): string {
  return env['TEMPORAL_PROFILE'] ? 'TEMPORAL_PROFILE' : 'TEMPORAL_CONFIG_FILE';
}

function first(
  ...sources: readonly (readonly [string | undefined, ValueOrigin])[]
): [string | null, ValueOrigin] {
  for (const [value, origin] of sources) if (value !== undefined) return [value, origin];
  return [null, 'default'];
}
