import { type ClientConfigProfile, loadClientConfigProfile } from '@temporalio/envconfig';
import { throwBug } from 'temporal-media/internal/domain/bug';
import { given } from 'temporal-media/internal/domain/json';
import { readConfig } from 'temporal-media/internal/settings/config';
import { type CommandContext, type CommonOptions, effectiveEnvironment } from '../shared/context';
import { type DevState, readDevState, sandboxEnvironment } from '../shared/dev-state';
import { CliError } from '../shared/errors';
import { devInUse } from '../shared/models-in-force';
import { textTable } from '../shared/progress-view';
import { isBareAddress, nearNames, shownLocation } from '../shared/text';
import {
  type ConfigValue,
  masked,
  MEDIA_VARIABLES,
  type MediaVariable,
  type ValueOrigin,
  valueProblem,
} from './variables';

/**
 * Prints every value in effect, including invalid ones.
 * @throws CliError `configuration`, after printing all values, if any is invalid
 */
export async function showConfig(context: CommandContext, options: CommonOptions): Promise<void> {
  const { report } = context;
  const env = effectiveEnvironment(context, options);
  // An invalid variable must not hide the others.
  const usable = readConfig({ MEDIA_DATA_DIR: env['MEDIA_DATA_DIR'] });
  const [inUse, running] = await Promise.all([devInUse(usable, env), readDevState(usable.dataDir)]);
  const flags = new Set(options.dataDir === undefined ? [] : ['MEDIA_DATA_DIR']);
  const media = mediaValues({ env, flags, dev: inUse, dataDir: usable.dataDir });
  const values = [...media, ...temporalValues(env, running)];
  for (const line of textTable([['NAME', 'VALUE', 'FROM', ''], ...values.map(row)])) report.result(line);
  const broken = values.filter(({ problem }) => problem !== undefined);
  if (broken.length === 0) {
    report.reply({ ok: true, data: { values } });
    return;
  }
  const names = broken.map(({ name }) => name).join(', ');
  throw new CliError('configuration', `These settings are invalid: ${names}.`, {
    hint: 'Fix each value where it is set. The list above shows what is wrong.',
    data: { values },
  });
}

function row({ name, value, origin, problem, note, unknown, nearest }: ConfigValue): string[] {
  const remarks = [
    ...(problem === undefined ? [] : [`! ${problem}`]),
    ...(note === undefined ? [] : [note]),
    ...(unknown === true ? [nearest ? `unknown; did you mean ${nearest}?` : 'unknown: has no effect'] : []),
  ];
  return [name, value ?? '-', value === null ? '-' : origin, remarks.join('; ').replace(/\s+/g, ' ')];
}

const SECRET: ReadonlySet<string> = new Set([
  'TEMPORAL_API_KEY',
  'TEMPORAL_TLS_CLIENT_CERT_DATA',
  'TEMPORAL_TLS_CLIENT_KEY_DATA',
  'TEMPORAL_TLS_SERVER_CA_CERT_DATA',
  'TEMPORAL_CODEC_AUTH',
]);

/** Variables that are always shown. Other variables are shown only if they are set. */
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
/** Prefix of variables for headers that are sent with every call. The user chooses their names and values. */
const META = 'TEMPORAL_GRPC_META_';

const DEFAULTS: { readonly [name: string]: string } = {
  TEMPORAL_PROFILE: 'default',
  TEMPORAL_ADDRESS: 'localhost:7233',
  TEMPORAL_NAMESPACE: 'default',
};

/**
 * Returns every TEMPORAL_* value in effect. @param dev the `dev` process that uses this data directory, no matter which
 * queue it serves
 */
export function temporalValues(env: NodeJS.ProcessEnv, dev: DevState | undefined): ConfigValue[] {
  // The same precedence as in `connect`: a named server, then `dev`, then the default profile.
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
        ...given({ problem }),
        ...(unused && { note: 'not used: commands connect to the server that `temporal-media dev` runs' }),
      },
    ];
  });
  // Other programs use TEMPORAL_* variables too, so unknown ones are shown only if they are likely misspellings.
  const slips = unknownVariables(env, 'TEMPORAL_', known).filter(({ nearest }) => nearest !== null);
  return [...values, ...slips];
}

/** Whether the value is a URL that commands reject because it may contain credentials. */
function mayHoldSecret(name: string, value: string): boolean {
  if (name !== 'TEMPORAL_CODEC_ENDPOINT') return false;
  try {
    return !isBareAddress(new URL(value));
  } catch (error) {
    throwBug(error);
    return true;
  }
}

/** Connection settings that commands ignore when they connect to the `dev` server. */
const CONNECTION = /^TEMPORAL_(API_KEY|TLS|CODEC_|GRPC_META_)/;

/** Returns the name of the variable to report for a broken profile. */
function problemOf(env: NodeJS.ProcessEnv): string {
  return env['TEMPORAL_PROFILE'] ? 'TEMPORAL_PROFILE' : 'TEMPORAL_CONFIG_FILE';
}

function first(
  ...sources: readonly (readonly [string | undefined, ValueOrigin])[]
): [string | null, ValueOrigin] {
  for (const [value, origin] of sources) if (value !== undefined) return [value, origin];
  return [null, 'default'];
}

interface MediaFacts {
  readonly env: NodeJS.ProcessEnv;
  /** Variables that this command's flags set. */
  readonly flags: ReadonlySet<string>;
  /** The `dev` that provides this environment's worker and sandbox. */
  readonly dev: DevState | undefined;
  readonly dataDir: string;
}

/** Returns every MEDIA_* value in effect, then the unknown MEDIA_* variables. */
export function mediaValues(facts: MediaFacts): ConfigValue[] {
  const { env, dev } = facts;
  const fromDev = devEnvironment(env, dev);
  const models = env['MEDIA_MODELS']?.trim() || fromDev['MEDIA_MODELS'] || null;
  const known = MEDIA_VARIABLES.map((variable) => valueOf(variable, facts, fromDev, models));
  return [
    ...known,
    ...unknownVariables(
      env,
      'MEDIA_',
      MEDIA_VARIABLES.map(({ name }) => name),
    ),
  ];
}

function valueOf(
  variable: MediaVariable,
  { env, flags, dataDir }: MediaFacts,
  fromDev: NodeJS.ProcessEnv,
  models: string | null,
): ConfigValue {
  const { name } = variable;
  const set = env[name]?.trim() || undefined;
  const value = set ?? fromDev[name] ?? variable.default?.({ dataDir, models }) ?? null;
  const origin: ValueOrigin =
    set !== undefined ? (flags.has(name) ? 'flag' : 'environment') : fromDev[name] ? 'dev' : 'default';
  const problem = set === undefined ? undefined : valueProblem(name, set);
  const note = noteOf(name, set, env);
  return {
    name,
    value: value === null ? null : shown(variable, value),
    origin,
    secret: variable.shown === 'never',
    ...given({ problem, note }),
  };
}

/** Returns the values that the `dev` worker uses for variables that are not set here. */
function devEnvironment(env: NodeJS.ProcessEnv, dev: DevState | undefined): NodeJS.ProcessEnv {
  if (dev === undefined) return {};
  const sandbox =
    dev.sandbox === null || env['MEDIA_BASE_URL']?.trim() ? {} : sandboxEnvironment(dev.sandbox, env);
  return { MEDIA_TASK_QUEUE: dev.taskQueue, ...sandbox };
}

function shown({ shown: how }: MediaVariable, value: string): string {
  if (how === 'never') return masked(value);
  if (how === 'location') return shownLocation(value);
  if (how === 'plain') return value;
  return value
    .split(',')
    .map((part) => shownLocation(part.trim()))
    .join(', ');
}

function noteOf(name: string, set: string | undefined, env: NodeJS.ProcessEnv): string | undefined {
  if (set === undefined) return undefined;
  if (name === 'MEDIA_API_KEY' && env['MEDIA_API_KEY_FILE'])
    return 'not used, because MEDIA_API_KEY_FILE is also set';
  if (name === 'MEDIA_JOURNAL_SHARED' && set !== '1') return 'off: only the value 1 turns it on';
  return undefined;
}

/** Returns the variables with this prefix that are set but unknown. */
function unknownVariables(env: NodeJS.ProcessEnv, prefix: string, known: readonly string[]): ConfigValue[] {
  const words = known.map((name) => name.slice(prefix.length));
  return Object.entries(env)
    .filter(([name, value]) => name.startsWith(prefix) && !known.includes(name) && value)
    .map(([name, value]): ConfigValue => {
      const [near] = nearNames(name.slice(prefix.length), words, 1);
      return {
        name,
        value: masked(value ?? ''),
        origin: 'environment',
        secret: true,
        unknown: true,
        nearest: near === undefined ? null : `${prefix}${near}`,
      };
    });
}

interface ProfileReading {
  /** Values of the profile, keyed by the variables that override them. */
  readonly values: { readonly [variable: string]: string };
  readonly problem?: string;
}

/** Reads the profile in Temporal's configuration file, without overrides from the environment. */
function readTemporalProfile(env: NodeJS.ProcessEnv): ProfileReading {
  const overrideEnvVars: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined) overrideEnvVars[name] = value;
  try {
    return { values: variablesOf(loadClientConfigProfile({ disableEnv: true, overrideEnvVars })) };
  } catch (error) {
    // A parser error quotes nearby lines, which may contain a key.
    const message = error instanceof Error ? error.message : '';
    const known = /^Profile '.*' not found in config data$/.test(message);
    return { values: {}, problem: known ? `${message}.` : 'The configuration file cannot be read.' };
  }
}

function variablesOf({ address, namespace, apiKey, tls, grpcMeta }: ClientConfigProfile): {
  [variable: string]: string;
} {
  const source = (name: string, data: NonNullable<typeof tls>['clientKey']): [string, string | undefined][] =>
    data === undefined
      ? []
      : 'path' in data
        ? [[`${name}_PATH`, data.path]]
        : [[`${name}_DATA`, String(data.data)]];
  const values: [string, string | undefined][] = [
    ['TEMPORAL_ADDRESS', address],
    ['TEMPORAL_NAMESPACE', namespace],
    ['TEMPORAL_API_KEY', apiKey],
    ['TEMPORAL_TLS', tls === undefined ? undefined : String(tls.disabled !== true)],
    ['TEMPORAL_TLS_SERVER_NAME', tls?.serverName],
    ...source('TEMPORAL_TLS_CLIENT_CERT', tls?.clientCert),
    ...source('TEMPORAL_TLS_CLIENT_KEY', tls?.clientKey),
    ...source('TEMPORAL_TLS_SERVER_CA_CERT', tls?.serverCACert),
    ...Object.entries(grpcMeta ?? {}).map(([header, value]): [string, string] => [
      `TEMPORAL_GRPC_META_${header.toUpperCase().replaceAll('-', '_')}`,
      value,
    ]),
  ];
  return Object.fromEntries(values.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
