import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { throwBug } from 'temporal-media/internal/domain/bug';
import { HistoryError } from './history-error';
import { historyToJson } from './history-codec';
import { isHistoryFile } from './history-folder';
import { type LoadedRun } from './loaded-history';

/** Name of the list of golden histories in their folder. */
export const GOLDEN_MANIFEST = 'manifest.json';

/** The list of golden histories: file names with their digests. */
export interface GoldenManifest {
  readonly v: 1;
  /** SHA-256 of each file, in hexadecimal digits. */
  readonly histories: Readonly<Record<string, string>>;
}

/** A golden history that has changed since it was recorded. */
export interface GoldenProblem {
  /** Name of the file. */
  readonly file: string;
  /** What is wrong with it. */
  readonly problem: 'missing' | 'changed' | 'not_listed';
}

/**
 * Adds runs to a folder of golden histories and to its manifest, which is made if there is none. Nothing is overwritten.
 * @returns the names of the files
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

/** A name for the next workflow of this type in a folder: `productFilm-3`. */
export async function nextLabel(folder: string, workflowType: string): Promise<string> {
  const { histories = {} } = (await readManifest(folder)) ?? {};
  const type = safe(workflowType);
  const taken = Object.keys(histories).flatMap((name) =>
    name.startsWith(`${type}-`) ? [parseInt(name.slice(type.length + 1), 10)] : [],
  );
  return `${type}-${Math.max(0, ...taken.filter(Number.isFinite)) + 1}`;
}

/** Compares a folder with its manifest. @throws HistoryError when it has none */
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
    `${join(folder, GOLDEN_MANIFEST)} is no manifest of golden histories.`,
  );
}

function freeName(run: LoadedRun, suffix: string, taken: Readonly<Record<string, string>>): string {
  const type = safe(run.workflowType);
  const id = safe(run.workflowId);
  // A label begins with the type already.
  const stem = `${id.startsWith(`${type}-`) ? id : `${type}.${id}`}${suffix}`;
  for (let n = 1; ; n += 1) {
    const name = `${stem}${n === 1 ? '' : `-${n}`}.json`;
    if (!Object.hasOwn(taken, name)) return name;
  }
}

/** Ids may hold any character. */
const safe = (text: string): string => text.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, 80);

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
