import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { otherwise, throwBug } from 'temporal-media/internal/domain/bug';
import { HistoryError } from './history-error';
import { type LoadedRun, type LoadedTarget } from './loaded-history';
import { parseHistory, readHistoryFile, runOf } from './read-history';

/** A target that could not be loaded. */
export interface UnloadedTarget {
  /** The target as it was given. */
  readonly target: string;
  /** Why it was not loaded. */
  readonly error: HistoryError;
}

/** Names of history files; a manifest of golden histories is none. */
export const isHistoryFile = (name: string): boolean =>
  /\.(json|bin|pb|binpb)$/.test(name) && !name.startsWith('.') && name !== 'manifest.json';

/**
 * The histories of a folder, chain by chain: only one chain is in memory at a time. Files that are no histories are
 * named with the reason.
 * @throws HistoryError `not_found` for a folder that cannot be read or has no history files
 */
export async function* readHistoryFolder(folder: string): AsyncGenerator<LoadedTarget | UnloadedTarget> {
  for (const chain of await listHistoryFolder(folder)) yield readHistoryChain(chain);
}

/** Paths of the files of each chain of a folder, oldest run first. @throws HistoryError `not_found` */
export async function listHistoryFolder(folder: string): Promise<readonly (readonly string[])[]> {
  const names = (
    await readdir(folder).catch((error: unknown) => {
      throwBug(error);
      return unreadable(folder);
    })
  )
    .filter(isHistoryFile)
    .sort();
  if (names.length === 0)
    throw new HistoryError('not_found', `${folder} has no history files (.json, .bin, .pb, .binpb).`);
  const chains = await chainsOfFiles(folder, names);
  return chains.map((chain) => chain.map((name) => join(folder, name)));
}

/** Reads one chain of {@link listHistoryFolder}. */
export async function readHistoryChain(paths: readonly string[]): Promise<LoadedTarget | UnloadedTarget> {
  try {
    const runs: LoadedRun[] = [];
    for (const path of paths) runs.push(await readHistoryFile(path));
    return { target: runs[0]?.workflowId ?? '', runs };
  } catch (error) {
    if (!(error instanceof HistoryError)) throw error;
    return { target: basename(paths[0] ?? ''), error };
  }
}

function unreadable(folder: string): never {
  throw new HistoryError('not_found', `${folder} cannot be read.`);
}

/** Names of the files of each chain, oldest run first, without keeping any history. */
async function chainsOfFiles(
  folder: string,
  names: readonly string[],
): Promise<readonly (readonly string[])[]> {
  const heads = new Map<string, Head>();
  for (const name of names) heads.set(name, await headOf(join(folder, name), name));
  const byRun = new Map([...heads].map(([name, { runId }]) => [runId, name]));
  const next = new Map<string, string>();
  const followers = new Set<string>();
  for (const [name, { before }] of heads) {
    const earlier = before === undefined ? undefined : byRun.get(before);
    if (earlier === undefined || earlier === name || next.has(earlier)) continue;
    next.set(earlier, name);
    followers.add(name);
  }
  return names
    .filter((name) => !followers.has(name))
    .map((first) => {
      const chain: string[] = [];
      for (let name: string | undefined = first; name !== undefined; name = next.get(name)) chain.push(name);
      return chain;
    });
}

interface Head {
  readonly runId: string | undefined;
  readonly before: string | undefined;
}

/** Of the first event of a file. The text is searched, because it takes a hundred times as long to parse a history. */
async function headOf(path: string, name: string): Promise<Head> {
  const bytes = await readFile(path).catch(otherwise(Buffer.alloc(0)));
  if (!name.endsWith('.json')) {
    try {
      const { runId, history } = runOf(parseHistory(bytes, name), name);
      const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
      return { runId: runId || undefined, before: started?.continuedExecutionRunId || undefined };
    } catch (_error) {
      // Reading the whole file says what is wrong with it.
      return { runId: undefined, before: undefined };
    }
  }
  const second = bytes.indexOf('"eventId"', bytes.indexOf('"eventId"') + 1);
  const first = bytes.subarray(0, second === -1 ? bytes.length : second).toString('utf8');
  const field = (of: string): string | undefined => new RegExp(`"${of}"\\s*:\\s*"([^"]+)"`).exec(first)?.[1];
  return { runId: field('originalExecutionRunId'), before: field('continuedExecutionRunId') };
}
