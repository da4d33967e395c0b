import { stat } from 'node:fs/promises';
import { type Client } from '@temporalio/client';
import { type PayloadCodec } from '@temporalio/common';
import { listExecutions } from '../../client/list-executions';
import { ALL_OPEN, fetchChain, fetchRun } from '../../replay/fetch-histories';
import { withChildren } from '../../replay/fetch-children';
import { HistoryError } from '../../replay/history-error';
import { readHistoryFolder, type UnloadedTarget } from '../../replay/history-folder';
import { type LoadedTarget } from '../../replay/loaded-history';
import { decodeRun, type DecodeOptions } from '../../replay/payloads';
import { readHistoryFile } from '../../replay/read-history';
import { dataConverterOf } from '../codec-client';
import { type CommandContext, effectiveConfig, effectiveEnvironment } from '../context';
import { CliError } from '../errors';
import { type ReplayOptions } from '../commands/replay';

/** What the arguments of a command say about histories. */
export type TargetOptions = Pick<
  ReplayOptions,
  'dataDir' | 'runId' | 'children' | 'query' | 'allOpen' | 'golden' | 'workflowsPath' | 'bundle'
>;

/**
 * The histories that a command names, one execution chain after the other; each is fetched or read when the one before it
 * is done with. Their payloads are decoded.
 */
export async function* loadTargets(
  context: CommandContext,
  targets: readonly string[],
  options: TargetOptions,
): AsyncGenerator<LoadedTarget | UnloadedTarget> {
  const sources = new Sources(context, options);
  const query = options.allOpen === true ? ALL_OPEN : options.query;
  if (query !== undefined) yield* sources.ofQuery(query);
  for (const target of options.golden === undefined ? targets : [options.golden]) yield* sources.of(target);
}

class Sources {
  #connected: Promise<Client> | undefined;

  constructor(
    private readonly context: CommandContext,
    private readonly options: TargetOptions,
  ) {}

  /** A file or folder that exists, else a workflow id. */
  async *of(target: string): AsyncGenerator<LoadedTarget | UnloadedTarget> {
    const found = await stat(target).catch(() => undefined);
    if (found?.isDirectory() === true) this.#refuseChildren();
    if (found?.isDirectory() === true)
      for await (const one of readHistoryFolder(target)) yield await this.#decoded(one, this.#fileCodecs());
    else if (found !== undefined || looksLikeFile(target)) {
      this.#refuseChildren();
      const run = await readHistoryFile(target);
      yield await this.#decoded({ target, runs: [run] }, this.#fileCodecs());
    } else yield await this.#ofWorkflow(target);
  }

  async #ofWorkflow(id: string): Promise<LoadedTarget | UnloadedTarget> {
    const client = await this.#client();
    const loaded = await this.#ofServer(await fetchChain(client, id, this.options.runId));
    if ('error' in loaded || this.options.children !== true) return loaded;
    return withChildren(client, loaded, async (child) => {
      const decoded = await this.#ofServer(child);
      return 'error' in decoded ? undefined : decoded;
    });
  }

  #refuseChildren(): void {
    if (this.options.children === true)
      throw new CliError('usage', '--children reads from the server: name a workflow id.');
  }

  async *ofQuery(query: string): AsyncGenerator<LoadedTarget | UnloadedTarget> {
    const client = await this.#client();
    for await (const { workflowId, runId } of listExecutions(client, query)) {
      // It was listed a moment ago; retention or a person has removed it.
      const run = await fetchRun(client, workflowId, runId);
      if (run !== undefined) yield await this.#ofServer({ target: workflowId, runs: [run] });
    }
  }

  async #client(): Promise<Client> {
    this.#connected ??= import('../connect.js').then(async ({ connect }) => {
      const { context, options } = this;
      const env = effectiveEnvironment(context, options);
      return (await connect(effectiveConfig(context, options), env)).client;
    });
    return this.#connected;
  }

  async #ofServer(target: LoadedTarget): Promise<LoadedTarget | UnloadedTarget> {
    const { loadedDataConverter, namespace } = (await this.#client()).options;
    return this.#decoded(target, { codecs: loadedDataConverter.payloadCodecs, namespace });
  }

  /** Files need no server: only its codec. */
  #fileCodecs(): Pick<DecodeOptions, 'codecs' | 'namespace'> {
    const env = effectiveEnvironment(this.context, this.options);
    const namespace = env['TEMPORAL_NAMESPACE'] || 'default';
    const codecs: readonly PayloadCodec[] = dataConverterOf(env, namespace)?.payloadCodecs ?? [];
    return { codecs, namespace };
  }

  async #decoded(
    target: LoadedTarget | UnloadedTarget,
    by: Pick<DecodeOptions, 'codecs' | 'namespace'>,
  ): Promise<LoadedTarget | UnloadedTarget> {
    if ('error' in target) return target;
    const { workflowsPath, bundle } = this.options;
    const ownConverter = workflowsPath !== undefined || bundle !== undefined;
    try {
      for (const run of target.runs) await decodeRun(run, { ...by, ownConverter });
      return target;
    } catch (error) {
      if (!(error instanceof HistoryError)) throw error;
      return { target: target.target, error };
    }
  }
}

/** An argument that can only be a path, whether it exists or not. */
const looksLikeFile = (target: string): boolean =>
  /[\\/]/.test(target) && /\.(json|bin|pb|binpb)$/.test(target);
