import { stat } from 'node:fs/promises';
import {
  decodeRun,
  HistoryError,
  readHistoryFile,
  type UnloadedTarget,
  type LoadedRun,
  type LoadedTarget,
  type DecodeOptions,
} from '@temporal-media/replay';
import { isEncoded } from '@temporal-media/replay/internal/decode-payloads';
import {
  ALL_OPEN,
  fetchChain,
  fetchRun,
  listExecutions,
  withChildren,
  withWatchers,
} from '@temporal-media/replay/internal/fetch-histories';
import { listHistoryFolder, readHistoryChain } from '@temporal-media/replay/internal/history-folder';
import { type Client } from '@temporalio/client';
import { type DataConverter } from '@temporalio/common';
import { otherwise } from 'temporal-media/internal/domain/bug';
import { given } from 'temporal-media/internal/domain/json';
import { type CommandContext, effectiveConfig, effectiveEnvironment } from '../shared/context';
import { dataConverterOf } from '../shared/data-converter';
import { CliError } from '../shared/errors';
import { viewStandalone } from '../shared/execution-state';
import { type ExportOptions, type ReplayOptions } from './options';

/** The command arguments that select histories. */
export type TargetOptions = Pick<
  ReplayOptions,
  'dataDir' | 'runId' | 'children' | 'query' | 'allOpen' | 'golden' | 'workflowsPath' | 'bundle' | 'timeline'
> &
  Pick<ExportOptions, 'keepEncrypted'>;

/** Identifies a target whose histories have not been read yet, so that any thread can read them. */
export type NamedTarget =
  /** A file that the user named. If it is not a history, the command fails. */
  | { readonly file: string }
  /** Files in a folder that contain the runs of one chain. */
  | { readonly chain: readonly string[] }
  /** A workflow id, which stands for all of its runs. */
  | { readonly workflow: string }
  /** A run that a query found. */
  | { readonly run: { readonly workflowId: string; readonly runId: string } };

/**
 * Yields a command's histories with decoded payloads, one execution chain at a time. Each chain is loaded after the
 * previous one has been processed.
 */
export async function* loadTargets(
  context: Pick<CommandContext, 'env'>,
  targets: readonly string[],
  options: TargetOptions,
): AsyncGenerator<LoadedTarget | UnloadedTarget> {
  const sources = new HistorySources(context, options);
  for await (const named of sources.names(targets)) {
    const loaded = await sources.load(named);
    if ('error' in loaded || loaded.runs.length > 0) yield loaded;
  }
}

/** Finds and loads a command's targets from files, or from a server through one connection. */
export class HistorySources {
  #connected: Promise<Client> | undefined;

  constructor(
    private readonly context: Pick<CommandContext, 'env'>,
    private readonly options: TargetOptions,
  ) {}

  async *names(targets: readonly string[]): AsyncGenerator<NamedTarget, undefined> {
    const { allOpen, golden } = this.options;
    const query = allOpen === true ? ALL_OPEN : this.options.query;
    if (query !== undefined)
      for await (const { workflowId, runId } of listExecutions(await this.#client(), query))
        yield { run: { workflowId, runId } };
    for (const target of golden === undefined ? targets : [golden]) yield* this.#namesOf(target);
  }

  /** Treats a target as a file or folder if it exists, or as a workflow id if not. */
  async *#namesOf(target: string): AsyncGenerator<NamedTarget> {
    const found = await stat(target).catch(otherwise(undefined));
    // A results folder has the same name as its campaign. `--children` selects the workflow, because a folder does not
    // have children.
    const isWorkflow = found === undefined || (found.isDirectory() && this.options.children === true);
    if (isWorkflow && !looksLikeFile(target)) return void (yield { workflow: target });
    this.#refuseChildren();
    if (found?.isDirectory() !== true) return void (yield { file: target });
    for (const chain of await listHistoryFolder(target)) yield { chain };
  }

  /**
   * Loads a target. The result has no runs if the server no longer stores an execution that a query found.
   * @throws HistoryError for a file or a workflow that the user named
   */
  async load(named: NamedTarget): Promise<LoadedTarget | UnloadedTarget> {
    if ('workflow' in named) return this.#ofWorkflow(named.workflow);
    if ('run' in named) return this.#ofRun(named.run);
    const read =
      'file' in named
        ? { target: named.file, runs: [await readHistoryFile(named.file)] }
        : await readHistoryChain(named.chain);
    return this.#decoded(read, await this.#ofFiles());
  }

  async #ofWorkflow(id: string): Promise<LoadedTarget | UnloadedTarget> {
    const client = await this.#client();
    let chain: LoadedTarget;
    try {
      chain = await fetchChain(client, id, this.options.runId);
    } catch (error) {
      if (!(error instanceof HistoryError) || (await viewStandalone(client, id)) === undefined) throw error;
      return { target: id, error: new HistoryError('no_history', NO_HISTORY) };
    }
    const loaded = await this.#ofServer(chain);
    if ('error' in loaded) return loaded;
    const prepare = async (other: LoadedTarget) => {
      const decoded = await this.#ofServer(other);
      return 'error' in decoded ? undefined : decoded;
    };
    // A verdict does not need the watchers' payloads, which may be long.
    const watched = this.options.timeline === false ? loaded : await withWatchers(client, loaded, prepare);
    return this.options.children === true ? withChildren(client, watched, prepare) : watched;
  }

  async #ofRun({ workflowId, runId }: { readonly workflowId: string; readonly runId: string }) {
    const run = await fetchRun(await this.#client(), workflowId, runId);
    return this.#ofServer({ target: workflowId, runs: run === undefined ? [] : [run] });
  }

  #refuseChildren(): void {
    if (this.options.children === true)
      throw new CliError('usage', '--children reads from the server and requires a workflow id.');
  }

  async #client(): Promise<Client> {
    this.#connected ??= import('../shared/connect.js').then(async ({ connect }) => {
      const { context, options } = this;
      const env = effectiveEnvironment(context, options);
      return (await connect(effectiveConfig(context, options), env)).client;
    });
    return this.#connected;
  }

  async #ofServer(target: LoadedTarget): Promise<LoadedTarget | UnloadedTarget> {
    const { loadedDataConverter, namespace } = (await this.#client()).options;
    return this.#decoded(target, decodedBy(loadedDataConverter, namespace));
  }

  /** Returns how to read the payloads of files, which do not need a server. */
  async #ofFiles(): Promise<DecodedBy> {
    const env = effectiveEnvironment(this.context, this.options);
    const namespace = env['TEMPORAL_NAMESPACE'] || 'default';
    return decodedBy(await dataConverterOf(env, namespace), namespace);
  }

  async #decoded(
    target: LoadedTarget | UnloadedTarget,
    by: DecodedBy,
  ): Promise<LoadedTarget | UnloadedTarget> {
    if ('error' in target) return target;
    const { workflowsPath, bundle, keepEncrypted } = this.options;
    if (keepEncrypted === true) return target;
    const ownConverter = workflowsPath !== undefined || bundle !== undefined;
    try {
      const runs: LoadedRun[] = [];
      for (const run of target.runs) {
        const decoded = isEncoded(run);
        runs.push({ ...(await decodeRun(run, { ...by, ownConverter })), decoded });
      }
      return { ...target, runs };
    } catch (error) {
      if (!(error instanceof HistoryError)) throw error;
      return { target: target.target, error };
    }
  }
}

const NO_HISTORY =
  'It ran as an activity without a workflow. Temporal keeps no history of it, so there is nothing to replay.';

type DecodedBy = Omit<DecodeOptions, 'ownConverter'>;

function decodedBy(
  converter: Pick<DataConverter, 'payloadCodecs' | 'externalStorage'> | undefined,
  namespace: string,
): DecodedBy {
  const { payloadCodecs: codecs = [], externalStorage } = converter ?? {};
  return { codecs, namespace, ...given({ externalStorage }) };
}

/** Whether an argument can only be a path, even if the file does not exist. */
const looksLikeFile = (target: string): boolean =>
  /[\\/]/.test(target) && /\.(json|bin|pb|binpb)$/.test(target);
