import { join } from 'node:path';
import { type BundleOptions } from '@temporalio/worker';
import { packageFile, packagedWorkflows, WorkerSetupError } from '../package-file';
import { lackingText, lackingTypes } from '../worker/bundled-types';

type ConfigHook = NonNullable<BundleOptions['webpackConfigHook']>;
type BundlerConfig = Parameters<ConfigHook>[0];

/** What is used of a webpack compiler, which is no dependency of this package. */
interface Compiler {
  readonly hooks: { readonly emit: { tap(name: string, check: (made: Made) => void): void } };
}

interface Made {
  readonly assets: Readonly<Record<string, { source(): string | Buffer }>>;
}

/** Puts our workflows beside the user's into a bundle, or ours alone where there are none. Twice is as once. */
export function joinBundle(options: BundleOptions): BundleOptions {
  const { workflowsPath: users, webpackConfigHook: hook = (config) => config } = options;
  const joined = packageFile('plugin', 'joined-workflows');
  if (users === joined) return options;
  // Types ask for a path, and a user without workflows has none.
  if ((users as string | undefined) === undefined) return { ...options, workflowsPath: packagedWorkflows() };
  return {
    ...options,
    workflowsPath: joined,
    webpackConfigHook: (config) => withUsers(hook(config), users),
  };
}

/** Resolved, without an extension: what the bundler looks up when the joined workflows ask for the user's. */
const PLACE_OF_USERS = join(__dirname, 'users-workflows');

function withUsers(config: BundlerConfig, users: string): BundlerConfig {
  return {
    ...config,
    resolve: { ...config.resolve, alias: { ...config.resolve?.alias, [`${PLACE_OF_USERS}$`]: users } },
    plugins: [...(config.plugins ?? []), { apply: checkWhenDone }],
  };
}

/** Loads what was made: a clash of names is refused when the bundle is made, and not in each workflow task. */
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
