import assert from 'node:assert';
import { AsyncLocalStorage } from 'node:async_hooks';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createContext, Script } from 'node:vm';
import { type BundleOptions, type Logger, type WorkflowBundleOption } from '@temporalio/worker';
import { NOT_JOINED, WORKFLOW } from '../domain/names';
import { packagedWorkflows, packageFile, WorkerSetupError } from '../installation';

/** Workflow types of this package. */
export const MEDIA_WORKFLOWS: readonly string[] = Object.values(WORKFLOW);

/**
 * Merges the user's activities with this package's. @throws WorkerSetupError if two different activities have the same
 * name
 */
export function joinActivities(users: object | undefined, ours: object): object {
  const registered: Readonly<Record<string, unknown>> = { ...users };
  const taken = Object.entries(ours).filter(
    ([name, activity]) => Object.hasOwn(registered, name) && registered[name] !== activity,
  );
  if (taken.length === 0) return { ...registered, ...ours };
  throw new WorkerSetupError(
    `Some of your activities have the same name as temporal-media activities: ${taken.map(([name]) => name).join(', ')}. ` +
      'Rename yours, because the workflows call ours by these names. If yours come from createMediaActivities, omit them.',
  );
}

/** Globals that the SDK's sandbox adds to the language. */
const GLOBALS = {
  URL,
  URLSearchParams,
  TextEncoder,
  TextDecoder,
  AbortController,
  AsyncLocalStorage,
  assert,
};

interface Loaded {
  readonly __TEMPORAL__?: { importWorkflows(): Readonly<Record<string, unknown>> };
}

/**
 * Returns the workflow types that a bundle exports, by loading the bundle as the SDK does. Returns undefined if it
 * cannot be loaded outside a workflow.
 * @throws WorkerSetupError if the user's workflows cannot be combined with this package's
 */
export function bundledTypes(code: string): ReadonlySet<string> | undefined {
  const loaded: Loaded = createContext({
    ...GLOBALS,
    console: silent,
    __webpack_module_cache__: {},
  });
  try {
    new Script(code).runInContext(loaded);
    const exported = Object.entries(loaded.__TEMPORAL__?.importWorkflows() ?? {});
    return new Set(exported.flatMap(([name, value]) => (typeof value === 'function' ? [name] : [])));
  } catch (error) {
    const { name, message } = error as Partial<Error>;
    if (name === NOT_JOINED) throw new WorkerSetupError(message);
    return undefined;
  }
}

/** Returns the names of this package's workflows that a bundle lacks; empty if the bundle cannot be loaded. */
function lackingTypes(code: string): readonly string[] {
  const types = bundledTypes(code);
  return types === undefined ? [] : MEDIA_WORKFLOWS.filter((type) => !types.has(type));
}

/** Returns the code of a worker's bundle. */
export async function codeOf(bundle: WorkflowBundleOption): Promise<string> {
  return 'code' in bundle ? bundle.code : readFile(bundle.codePath, 'utf8');
}

/** Returns a message that names the missing workflows and explains how to add them. */
function lackingText(lacking: readonly string[]): string {
  return (
    `The workflow bundle lacks temporal-media workflows: ${lacking.join(', ')}. Their workflow tasks would fail ` +
    'indefinitely. Create the bundle with bundleWorkflowCode({ workflowsPath, plugins: [media] }), or export ' +
    'temporal-media/workflows from your own workflows file.'
  );
}

/** Warns if a bundle lacks some of this package's workflows. For workers whose queue may never run these workflows. */
export async function warnOfLacking(bundle: WorkflowBundleOption, logger: Logger): Promise<void> {
  const lacking = lackingTypes(await codeOf(bundle));
  if (lacking.length > 0) logger.warn(lackingText(lacking));
}

const nothing = (): void => undefined;
const silent = { log: nothing, warn: nothing, error: nothing, info: nothing, debug: nothing };

type ConfigHook = NonNullable<BundleOptions['webpackConfigHook']>;
type BundlerConfig = Parameters<ConfigHook>[0];

/** The part of a webpack compiler that is used here. webpack is not a dependency of this package. */
interface Compiler {
  readonly hooks: { readonly emit: { tap(name: string, check: (made: Made) => void): void } };
}

interface Made {
  readonly assets: Readonly<Record<string, { source(): string | Buffer }>>;
}

/**
 * Adds this package's workflows to the user's in a bundle, or bundles only this package's if the user has none.
 * Idempotent.
 */
export function joinBundle(options: BundleOptions): BundleOptions {
  const { workflowsPath: users, webpackConfigHook: hook = (config) => config } = options;
  const joined = packageFile('worker', 'joined-workflows');
  if (users === joined) return options;
  // The type requires a path, but a user without workflows has none.
  if ((users as string | undefined) === undefined) return { ...options, workflowsPath: packagedWorkflows() };
  return {
    ...options,
    workflowsPath: joined,
    webpackConfigHook: (config) => withUsers(hook(config), users),
  };
}

/** The path, without an extension, that the bundler resolves when the joined workflows import the user's. */
const PLACE_OF_USERS = join(__dirname, 'users-workflows');

function withUsers(config: BundlerConfig, users: string): BundlerConfig {
  return {
    ...config,
    resolve: { ...config.resolve, alias: { ...config.resolve?.alias, [`${PLACE_OF_USERS}$`]: users } },
    plugins: [...(config.plugins ?? []), { apply: checkWhenDone }],
  };
}

/** Loads the finished bundle, so that a name clash fails the build instead of every workflow task. */
function checkWhenDone(compiler: Compiler): void {
  compiler.hooks.emit.tap('temporal-media', ({ assets }) => {
    for (const [file, source] of Object.entries(assets)) {
      if (file.endsWith('.js')) refuseLacking(source.source().toString());
    }
  });
}

/** @throws WorkerSetupError if the code lacks workflows of this package or joins two with the same name */
export function refuseLacking(code: string): void {
  const lacking = lackingTypes(code);
  if (lacking.length > 0) throw new WorkerSetupError(lackingText(lacking));
}
