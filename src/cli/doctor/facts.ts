import { type Connection } from '@temporalio/client';
import { ConfigurationError, type MediaConfig, readConfig } from '../../config';
import { normaliseBaseUrl } from '../../service/base-url';
import { findTarget, type Target } from '../connect';
import { sandboxEnvironment } from '../dev-sandbox';
import { type DevState, readDevState } from '../dev-state';

/** What the checks judge. Gathered once; nothing here has been asked over a network. */
export interface Facts {
  /** The environment of the worker, as far as it is known here. Holds the key: it goes into no message. */
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Without what {@link problems} names. */
  readonly config: MediaConfig;
  /** Variables whose value no worker would accept. */
  readonly problems: readonly ConfigurationError[];
  /** Whether this is a place where a worker could run; elsewhere only its polling can be seen. */
  readonly workerSide: boolean;
  /** The service and where its address is from; undefined without a usable address or key. */
  readonly service: { readonly baseUrl: string; readonly from: string } | undefined;
  readonly target: Target | { readonly problem: unknown };
  /** `dev` of the data directory, also when another server is used. */
  readonly dev: DevState | undefined;
  /** The connection that the check of the server opens for those after it. */
  readonly session: { connection?: Connection };
}

export async function gatherFacts(env: NodeJS.ProcessEnv, cwd: string): Promise<Facts> {
  const { config: clientConfig } = readTolerantly(env);
  const [target, dev] = await Promise.all([
    findTarget(clientConfig, env).catch((problem: unknown) => ({ problem })),
    readDevState(clientConfig.dataDir),
  ]);
  const sandbox = clientConfig.baseUrl === undefined && serves(dev, target) ? dev.sandbox : null;
  const workerEnv = sandbox === null ? env : { ...env, ...sandboxEnvironment(sandbox, env) };
  const { config, problems } = readTolerantly(workerEnv);
  const hasKey = Boolean(workerEnv['MEDIA_API_KEY'] || workerEnv['MEDIA_API_KEY_FILE']);
  const workerSide = config.baseUrl !== undefined || hasKey;
  const own = workerSide ? serviceProblems(config) : [];
  return {
    env: workerEnv,
    cwd,
    config,
    problems: [...problems, ...own],
    workerSide,
    service:
      config.baseUrl === undefined || own.length > 0
        ? undefined
        : {
            baseUrl: normaliseBaseUrl(config.baseUrl),
            from: sandbox === null ? 'MEDIA_BASE_URL' : 'the sandbox of `temporal-media dev`',
          },
    target,
    dev,
    session: {},
  };
}

/** Whether the worker of this `dev` polls the queue that commands use. */
function serves(dev: DevState | undefined, target: Facts['target']): dev is DevState {
  return (
    dev !== undefined &&
    'address' in target &&
    dev.address === target.address &&
    dev.namespace === target.namespace &&
    dev.taskQueue === target.taskQueue
  );
}

/** One wrong variable must not hide what else is wrong: it is noted and left out. */
function readTolerantly(env: NodeJS.ProcessEnv): {
  readonly config: MediaConfig;
  readonly problems: readonly ConfigurationError[];
} {
  const problems: ConfigurationError[] = [];
  const rest = { ...env };
  for (;;) {
    try {
      return { config: readConfig(rest), problems };
    } catch (error) {
      if (!(error instanceof ConfigurationError) || rest[error.variable] === undefined) throw error;
      problems.push(error);
      delete rest[error.variable];
    }
  }
}

/** What would only show at the first call: an address or a key that cannot be used. */
function serviceProblems(config: MediaConfig): ConfigurationError[] {
  const problems: ConfigurationError[] = [];
  try {
    if (config.baseUrl === undefined)
      throw new ConfigurationError(
        'MEDIA_BASE_URL',
        'is not set. Set it to the base address of the service.',
      );
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
