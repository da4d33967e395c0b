import { AsyncLocalStorage } from 'node:async_hooks';
import assert from 'node:assert';
import { readFile } from 'node:fs/promises';
import { createContext, Script } from 'node:vm';
import { type Logger, type WorkflowBundleOption } from '@temporalio/worker';
import { NOT_JOINED } from '../domain/names';
import { WorkerSetupError } from '../package-file';
import { MEDIA_WORKFLOWS } from './registered-names';

/** What the code of a bundle finds in the sandbox of the SDK, beside the language itself. */
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
 * The workflow types that a bundle exports, read by loading it as the SDK does; undefined where it cannot be loaded
 * outside a workflow.
 * @throws WorkerSetupError when the user's workflows and ours could not be joined in it
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

/** Names of our workflows that a bundle lacks; none where it cannot be read. */
export function lackingTypes(code: string): readonly string[] {
  const types = bundledTypes(code);
  return types === undefined ? [] : MEDIA_WORKFLOWS.filter((type) => !types.has(type));
}

/** The code of a bundle that is given to a worker. */
export async function codeOf(bundle: WorkflowBundleOption): Promise<string> {
  return 'code' in bundle ? bundle.code : readFile(bundle.codePath, 'utf8');
}

/** Why a bundle without these workflows is of little use, and how it gets them. */
export function lackingText(lacking: readonly string[]): string {
  return (
    `The workflow bundle lacks workflows of temporal-media: ${lacking.join(', ')}. Their starts would fail their workflow ` +
    'tasks for ever. Make it with bundleWorkflowCode({ workflowsPath, plugins: [media] }), or export ' +
    'temporal-media/workflows from your own file of workflows.'
  );
}

/** Logs a warning when a bundle lacks workflows of ours; for workers whose own queue may never get them. */
export async function warnOfLacking(bundle: WorkflowBundleOption, logger: Logger): Promise<void> {
  const lacking = lackingTypes(await codeOf(bundle));
  if (lacking.length > 0) logger.warn(lackingText(lacking));
}

const nothing = (): void => undefined;
const silent = { log: nothing, warn: nothing, error: nothing, info: nothing, debug: nothing };
