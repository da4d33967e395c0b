import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { otherwise, throwBug } from 'temporal-media/internal/domain/bug';
import { historyToJson } from './history-codec';
import { HistoryError, type LoadedRun, type LoadedTarget } from './loaded-history';
import { parseHistory, readHistoryFile, runOf } from './read-history';

/** A target that could not be loaded. */
export interface UnloadedTarget {
  /** The target as given. */
  readonly target: string;
  /** Why it was not loaded. */
  readonly error: HistoryError;
}

/** Whether a file with this name is a history. The golden-history manifest is not a history. */
export const isHistoryFile = (name: string): boolean =>
  /\.(json|bin|pb|binpb)$/.test(name) && !name.startsWith('.') && name !== 'manifest.json';

/**
 * Yields a folder's histories chain by chain, so that only one chain is in memory at a time. For a file that is not a
 * history, yields the reason.
 * @throws HistoryError `not_found` for a folder that cannot be read or has no history files
 */
export async function* readHistoryFolder(folder: string): AsyncGenerator<LoadedTarget | UnloadedTarget> {
  for (const chain of await listHistoryFolder(folder)) yield readHistoryChain(chain);
}

/** Returns the file paths of each chain in a folder, oldest run first. @throws HistoryError `not_found` */
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

/** Reads one chain from {@link listHistoryFolder}. */
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

/** Returns the file names of each chain, oldest run first, without keeping histories in memory. */
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

/**
 * Reads a file's run ids from its first event. Searches the text, because parsing would take a hundred times as long.
 */
async function headOf(path: string, name: string): Promise<Head> {
  const bytes = await readFile(path).catch(otherwise(Buffer.alloc(0)));
  if (!name.endsWith('.json')) {
    try {
      const { runId, history } = runOf(parseHistory(bytes, name), name);
      const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
      return { runId: runId || undefined, before: started?.continuedExecutionRunId || undefined };
    } catch (_error) {
      // The error will be reported when the whole file is read.
      return { runId: undefined, before: undefined };
    }
  }
  const second = bytes.indexOf('"eventId"', bytes.indexOf('"eventId"') + 1);
  const first = bytes.subarray(0, second === -1 ? bytes.length : second).toString('utf8');
  const field = (of: string): string | undefined => new RegExp(`"${of}"\\s*:\\s*"([^"]+)"`).exec(first)?.[1];
  return { runId: field('originalExecutionRunId'), before: field('continuedExecutionRunId') };
}

/** File name of a folder's golden-history manifest. */
export const GOLDEN_MANIFEST = 'manifest.json';

/** A golden-history manifest: file names with their digests. */
export interface GoldenManifest {
  readonly v: 1;
  /** SHA-256 of each file, in hex. */
  readonly histories: Readonly<Record<string, string>>;
}

/** A difference between a golden-history folder and its manifest. */
export interface GoldenProblem {
  /** Name of the file. */
  readonly file: string;
  /** What is wrong with it. */
  readonly problem: 'missing' | 'changed' | 'not_listed';
}

/**
 * Adds runs to a golden-history folder and its manifest, which is created if missing. Never overwrites a history.
 * @returns the file names
 * @throws HistoryError `not_a_history` for a manifest that cannot be read
 */
export async function recordGolden(folder: string, runs: readonly LoadedRun[]): Promise<readonly string[]> {
  await mkdir(folder, { recursive: true });
  const manifest = await readManifest(folder);
  const histories = { ...manifest?.histories };
  const names: string[] = [];
  for (const [index, run] of runs.entries()) {
    const name = freeName(run, runs.length > 1 ? `-run${index + 1}` : '', histories);
    const text = `${JSON.stringify(historyToJson(run.history), null, 2)}\n`;
    await writeFile(join(folder, name), text, { flag: 'wx' });
    histories[name] = sha256(Buffer.from(text));
    names.push(name);
  }
  const sorted = Object.fromEntries(Object.entries(histories).sort(([a], [b]) => (a < b ? -1 : 1)));
  const next: GoldenManifest = { v: 1, histories: sorted };
  await writeFile(join(folder, GOLDEN_MANIFEST), `${JSON.stringify(next, null, 2)}\n`);
  return names;
}

/** Returns the next free label for a workflow type in a folder, such as `productFilm-3`. */
export async function nextLabel(folder: string, workflowType: string): Promise<string> {
  const { histories = {} } = (await readManifest(folder)) ?? {};
  const type = safe(workflowType);
  const taken = Object.keys(histories).flatMap((name) =>
    name.startsWith(`${type}-`) ? [parseInt(name.slice(type.length + 1), 10)] : [],
  );
  return `${type}-${Math.max(0, ...taken.filter(Number.isFinite)) + 1}`;
}

/** Compares a folder with its manifest. @throws HistoryError if the folder has none */
export async function goldenProblems(folder: string): Promise<readonly GoldenProblem[]> {
  const manifest = await readManifest(folder);
  if (manifest === undefined)
    throw new HistoryError(
      'not_found',
      `${folder} has no ${GOLDEN_MANIFEST}: record histories into it first.`,
    );
  const files = new Set((await readdir(folder)).filter(isHistoryFile));
  const problems: GoldenProblem[] = [];
  for (const [file, digest] of Object.entries(manifest.histories)) {
    if (!files.has(file)) problems.push({ file, problem: 'missing' });
    else if (sha256(await readFile(join(folder, file))) !== digest)
      problems.push({ file, problem: 'changed' });
  }
  for (const file of files)
    if (!Object.hasOwn(manifest.histories, file)) problems.push({ file, problem: 'not_listed' });
  return problems;
}

async function readManifest(folder: string): Promise<GoldenManifest | undefined> {
  let text: string;
  try {
    text = await readFile(join(folder, GOLDEN_MANIFEST), 'utf8');
  } catch (error) {
    throwBug(error);
    return undefined;
  }
  try {
    const manifest = JSON.parse(text) as Partial<GoldenManifest> | null;
    if (manifest?.v === 1 && typeof manifest.histories === 'object') return manifest as GoldenManifest;
  } catch (error) {
    throwBug(error);
    // Reported below.
  }
  throw new HistoryError(
    'not_a_history',
    `${join(folder, GOLDEN_MANIFEST)} is not a golden-history manifest.`,
  );
}

function freeName(run: LoadedRun, suffix: string, taken: Readonly<Record<string, string>>): string {
  const type = safe(run.workflowType);
  const id = safe(run.workflowId);
  // A label already begins with the type.
  const stem = `${id.startsWith(`${type}-`) ? id : `${type}.${id}`}${suffix}`;
  for (let n = 1; ; n += 1) {
    const name = `${stem}${n === 1 ? '' : `-${n}`}.json`;
    if (!Object.hasOwn(taken, name)) return name;
  }
}

/** Ids may contain any character. */
const safe = (text: string): string => text.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, 80);

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
