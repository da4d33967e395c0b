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

/** Merges the user's activities and ours. @throws WorkerSetupError when two different ones have the same name */
export function joinActivities(users: object | undefined, ours: object): object {
  const registered: Readonly<Record<string, unknown>> = { ...users };
  const taken = Object.entries(ours).filter(
    ([name, activity]) => Object.hasOwn(registered, name) && registered[name] !== activity,
  );
  if (taken.length === 0) return { ...registered, ...ours };
  throw new WorkerSetupError(
    `Your activities and those of temporal-media have the same name: ${taken.map(([name]) => name).join(', ')}. ` +
      'Rename yours: workflows call ours by these names. Where they are those of createMediaActivities, leave them out.',
  );
}

/** Globals of the SDK's sandbox beside the language itself. */
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
 * Returns the workflow types that a bundle exports, by loading it like the SDK; undefined if it cannot be loaded
 * outside a workflow.
 * @throws WorkerSetupError when it cannot join the user's workflows and ours
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

/** Names of our workflows that a bundle lacks; none if it cannot be read. */
function lackingTypes(code: string): readonly string[] {
  const types = bundledTypes(code);
  return types === undefined ? [] : MEDIA_WORKFLOWS.filter((type) => !types.has(type));
}

/** The code of a worker's bundle. */
export async function codeOf(bundle: WorkflowBundleOption): Promise<string> {
  return 'code' in bundle ? bundle.code : readFile(bundle.codePath, 'utf8');
}

/** Why a bundle without these workflows is of little use, and how to add them. */
function lackingText(lacking: readonly string[]): string {
  return (
    `The workflow bundle lacks workflows of temporal-media: ${lacking.join(', ')}. Their starts would fail their workflow ` +
    'tasks for ever. Make it with bundleWorkflowCode({ workflowsPath, plugins: [media] }), or export ' +
    'temporal-media/workflows from your own file of workflows.'
  );
}

/** Warns if a bundle lacks workflows of ours; for workers whose own queue may never get them. */
export async function warnOfLacking(bundle: WorkflowBundleOption, logger: Logger): Promise<void> {
  const lacking = lackingTypes(await codeOf(bundle));
  if (lacking.length > 0) logger.warn(lackingText(lacking));
}

const nothing = (): void => undefined;
const silent = { log: nothing, warn: nothing, error: nothing, info: nothing, debug: nothing };

type ConfigHook = NonNullable<BundleOptions['webpackConfigHook']>;
type BundlerConfig = Parameters<ConfigHook>[0];

/** The used part of a webpack compiler, which is not a dependency of this package. */
interface Compiler {
  readonly hooks: { readonly emit: { tap(name: string, check: (made: Made) => void): void } };
}

interface Made {
  readonly assets: Readonly<Record<string, { source(): string | Buffer }>>;
}

/** Adds our workflows to the user's in a bundle, or ours alone if there are none. Idempotent. */
export function joinBundle(options: BundleOptions): BundleOptions {
  const { workflowsPath: users, webpackConfigHook: hook = (config) => config } = options;
  const joined = packageFile('worker', 'joined-workflows');
  if (users === joined) return options;
  // The types require a path, and a user without workflows has none.
  if ((users as string | undefined) === undefined) return { ...options, workflowsPath: packagedWorkflows() };
  return {
    ...options,
    workflowsPath: joined,
    webpackConfigHook: (config) => withUsers(hook(config), users),
  };
}

/** Resolved, without an extension: what the bundler looks up when the joined workflows import the user's. */
const PLACE_OF_USERS = join(__dirname, 'users-workflows');

function withUsers(config: BundlerConfig, users: string): BundlerConfig {
  return {
    ...config,
    resolve: { ...config.resolve, alias: { ...config.resolve?.alias, [`${PLACE_OF_USERS}$`]: users } },
    plugins: [...(config.plugins ?? []), { apply: checkWhenDone }],
  };
}

/** Loads the result: a clash of names is refused when the bundle is made, not in each workflow task. */
function checkWhenDone(compiler: Compiler): void {
  compiler.hooks.emit.tap('temporal-media', ({ assets }) => {
    for (const [file, source] of Object.entries(assets)) {
      if (file.endsWith('.js')) refuseLacking(source.source().toString());
    }
  });
}

/** @throws WorkerSetupError when the code lacks workflows of this package, or joins two of the same name */
export function refuseLacking(code: string): void {
  const lacking = lackingTypes(code);
  if (lacking.length > 0) throw new WorkerSetupError(lackingText(lacking));
}
