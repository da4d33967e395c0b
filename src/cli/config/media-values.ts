import { type DevState } from '../dev-state';
import { sandboxEnvironment } from '../dev-sandbox';
import { nearNames } from '../near-names';
import { shownLocation } from '../shown-location';
import { type ConfigValue, masked, type ValueOrigin } from './config-value';
import { MEDIA_VARIABLES, type MediaVariable } from './media-variables';
import { valueProblem } from './value-problem';

export interface MediaFacts {
  readonly env: NodeJS.ProcessEnv;
  /** Variables that a flag of this command set. */
  readonly flags: ReadonlySet<string>;
  /** The `dev` whose worker and sandbox this environment uses. */
  readonly dev: DevState | undefined;
  readonly dataDir: string;
}

/** Every MEDIA_* value in force, then the variables of that name which nothing reads. */
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
    ...(problem !== undefined && { problem }),
    ...(note !== undefined && { note }),
  };
}

/** What the worker of `dev` has in place of what is not set here. */
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
  if (name === 'MEDIA_API_KEY' && env['MEDIA_API_KEY_FILE']) return 'not used: MEDIA_API_KEY_FILE is set too';
  if (name === 'MEDIA_JOURNAL_SHARED' && set !== '1') return 'only 1 turns it on, so it is off';
  return undefined;
}

/** Variables with a prefix of ours that nothing reads. */
export function unknownVariables(
  env: NodeJS.ProcessEnv,
  prefix: string,
  known: readonly string[],
): ConfigValue[] {
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
