import { type Connection } from '@temporalio/client';
import { accountName, normaliseBaseUrl } from 'temporal-media/internal/service/endpoint';
import { type AccountSettings, accountsOf, asOnlyAccount } from 'temporal-media/internal/settings/accounts';
import { ConfigurationError, readUsableConfig } from 'temporal-media/internal/settings/config';
import { type MediaConfig } from 'temporal-media/worker';
import { findTarget, type Target } from '../shared/connect';
import { type DevState, readDevState, sandboxEnvironment } from '../shared/dev-state';
import { type CommandErrorType, errorType } from '../shared/exit-codes';
import { type AccountCheck } from '../shared/json-output';

/** One account that a worker uses. */
export interface AccountFacts {
  /** Credential and base URL digest. */
  readonly name: string;
  readonly baseUrl: string;
  /** Where the account is configured: a variable, or the `dev` sandbox. */
  readonly from: string;
  /** The settings in effect for the account's calls. */
  readonly config: MediaConfig;
}

/** Input for the checks, gathered once and without network access. */
export interface DoctorFacts {
  /**
   * The worker's environment, as far as this machine knows it. It contains the key, so never include it in a message.
   */
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** The configuration without the variables that {@link problems} lists. */
  readonly config: MediaConfig;
  /** Variables with values that every worker would reject. */
  readonly problems: readonly ConfigurationError[];
  /** Whether a worker could run on this machine. If not, only its polling can be checked. */
  readonly workerSide: boolean;
  /** The accounts of a worker with these settings. Empty without a valid base URL and key. */
  readonly accounts: readonly AccountFacts[];
  readonly target: Target | { readonly problem: unknown };
  /** The `dev` that uses this data directory, even if commands use another server. */
  readonly dev: DevState | undefined;
  /** The connection that the server check opens for later checks. */
  readonly session: { connection?: Connection };
}

export async function gatherFacts(env: NodeJS.ProcessEnv, cwd: string): Promise<DoctorFacts> {
  const { config: clientConfig } = readUsableConfig(env);
  const [target, dev] = await Promise.all([
    findTarget(clientConfig, env).catch((problem: unknown) => ({ problem })),
    readDevState(clientConfig.dataDir),
  ]);
  const sandbox = clientConfig.baseUrl === undefined && serves(dev, target) ? dev.sandbox : null;
  const workerEnv = sandbox === null ? env : { ...env, ...sandboxEnvironment(sandbox, env) };
  const { config, problems } = readUsableConfig(workerEnv);
  const hasKey = Boolean(workerEnv['MEDIA_API_KEY'] || workerEnv['MEDIA_API_KEY_FILE']);
  const isShort = config.baseUrl !== undefined || hasKey;
  const workerSide = isShort || config.accounts !== undefined;
  const found = accountFacts(
    config,
    sandbox === null ? 'MEDIA_BASE_URL' : 'the sandbox of `temporal-media dev`',
  );
  const own = [...(isShort ? serviceProblems(config) : []), ...found.problems];
  return {
    env: workerEnv,
    cwd,
    config,
    problems: [...problems, ...own],
    workerSide,
    accounts: own.length > 0 ? [] : found.accounts,
    target,
    dev,
    session: {},
  };
}

/** Whether this `dev`'s worker polls the queue that commands use. */
function serves(dev: DevState | undefined, target: DoctorFacts['target']): dev is DevState {
  return (
    dev !== undefined &&
    'address' in target &&
    dev.address === target.address &&
    dev.namespace === target.namespace &&
    dev.taskQueue === target.taskQueue
  );
}

/** Returns the accounts, and the problems that make them unusable. */
function accountFacts(
  config: MediaConfig,
  from: string,
): { readonly accounts: readonly AccountFacts[]; readonly problems: readonly ConfigurationError[] } {
  let described: readonly AccountSettings[];
  try {
    described = accountsOf(config);
  } catch (error) {
    // `serviceProblems` reports an invalid MEDIA_BASE_URL.
    const isOfFile = error instanceof ConfigurationError && error.variable !== 'MEDIA_BASE_URL';
    return { accounts: [], problems: isOfFile ? [error] : [] };
  }
  const problems = described.flatMap(({ apiKey, digest }) => {
    if (digest === '') return [];
    try {
      apiKey();
      return [];
    } catch (error) {
      return [asConfigurationError('MEDIA_ACCOUNTS', error)];
    }
  });
  const accounts = described.map((settings) => ({
    name: accountName(settings.credential, settings.baseUrl),
    baseUrl: settings.baseUrl,
    from: settings.digest === '' ? from : 'MEDIA_ACCOUNTS',
    config: asOnlyAccount(config, settings),
  }));
  return { accounts, problems };
}

/** Finds an invalid base URL or key, which would fail the first call. */
function serviceProblems(config: MediaConfig): ConfigurationError[] {
  const problems: ConfigurationError[] = [];
  try {
    if (config.baseUrl === undefined)
      throw new ConfigurationError('MEDIA_BASE_URL', "is not set. Set it to the service's base URL.");
    normaliseBaseUrl(config.baseUrl);
  } catch (error) {
    problems.push(asConfigurationError('MEDIA_BASE_URL', error));
  }
  try {
    config.apiKey();
  } catch (error) {
    problems.push(asConfigurationError('MEDIA_API_KEY', error));
  }
  return problems;
}

function asConfigurationError(variable: string, error: unknown): ConfigurationError {
  return error instanceof ConfigurationError
    ? error
    : new ConfigurationError(variable, (error as Error).message);
}

/** Check names, which scripts may rely on. */
export type CheckName =
  | 'node'
  | 'sdk'
  | 'settings'
  | 'temporal'
  | 'namespace'
  | 'workers'
  | 'payloads'
  | 'models'
  | 'proxy'
  | 'service'
  | 'artifacts'
  | 'journal'
  | 'binding'
  | 'waiting';

/**
 * A check's result.
 * - `ok`: no problem.
 * - `warning`: videos can be created, but something needs attention.
 * - `failed`: videos cannot be created until this is fixed.
 * - `skipped`: not checked, because the check in `dependsOn` failed, or because only a worker's machine can check it.
 */
export type Finding =
  | { readonly state: 'ok'; readonly message: string }
  | { readonly state: 'warning'; readonly message: string; readonly remedy: string }
  | {
      readonly state: 'failed';
      readonly message: string;
      readonly remedy: string;
      readonly errorType: CommandErrorType;
    }
  | { readonly state: 'skipped'; readonly message: string; readonly dependsOn?: CheckName };

export type CheckReport = Finding & { readonly name: CheckName; readonly accounts?: readonly AccountCheck[] };

/** A check's finding, with a finding per account if the check covers each account. */
export type AccountsFinding = Finding & { readonly accounts?: readonly AccountCheck[] };

/** A check of one requirement for creating videos. */
export interface DoctorCheck {
  readonly name: CheckName;
  /** The check's name in text output. */
  readonly title: string;
  /** Checks that must pass before this one can run. */
  readonly after: readonly CheckName[];
  /** Set if the check needs a worker's settings (MEDIA_BASE_URL, the key). */
  readonly workerSide?: true;
  /** Timeout in milliseconds. A check that takes longer fails. */
  readonly limitMs: number;
  /** Error type if the check times out. */
  readonly late: CommandErrorType;
  /** Runs the check. It must not make a paid call or leave new files or folders behind. */
  run(facts: DoctorFacts): Promise<AccountsFinding>;
}

export function ok(message: string): Finding {
  return { state: 'ok', message };
}

export function warning(message: string, remedy: string): Finding {
  return { state: 'warning', message, remedy };
}

/** @param remedy replaces the error registry's hint with a more specific one */
export function failedCheck(type: CommandErrorType, message: string, remedy = errorType(type).hint): Finding {
  return { state: 'failed', message, remedy, errorType: type };
}

export function skipped(dependsOn: CheckName): Finding {
  return { state: 'skipped', message: `Not checked: \`${dependsOn}\` must pass first.`, dependsOn };
}
