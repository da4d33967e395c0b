import { createHash, randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { renderImage } from '@temporal-media/sandbox/internal/render-image';
import { type SandboxAdmin } from '@temporal-media/sandbox/internal/sandbox-process';
import { type RunningTemporalServer } from '@temporal-media/testing';
import { type Client } from '@temporalio/client';
import { type ArtifactRef } from 'temporal-media';
import { TemporalMediaClient } from 'temporal-media/client';
import { ingestFile } from 'temporal-media/internal/stores/artifacts/user-files';
import {
  type ArtifactStore,
  createFileRecords,
  createJournal,
  FileArtifactStore,
} from 'temporal-media/stores';
import { CliError } from '../shared/errors';
import { resultPath, saveArtifact } from '../shared/output-files';
import { stackEnvironment, startStack } from '../shared/stack';
import { checkMedia, DEMO_CASES, type DemoCase, type DemoEnvironment } from './cases';

export interface OpenEnvironment {
  readonly environment: DemoEnvironment;
  readonly server: RunningTemporalServer;
  readonly admin: SandboxAdmin;
  readonly store: ArtifactStore;
  /** Stops everything that was started for the demo. */
  readonly close: () => Promise<void>;
}

interface OpenEnvironmentOptions {
  readonly dataDir: string;
  /** Whether the server's database is kept in the data directory. */
  readonly persistent: boolean;
  readonly out: string;
  readonly env: NodeJS.ProcessEnv;
  readonly say: (line: string) => void;
}

/** How long to wait for the response to a one-second create, in milliseconds; long enough for a slow machine. */
const ANSWER_LIMIT_MS = 60_000;

/** Starts the demo's server, sandbox and first worker, on separate task queues. Stops everything on failure. */
export async function openEnvironment(options: OpenEnvironmentOptions): Promise<OpenEnvironment> {
  const { dataDir, say } = options;
  const store = new FileArtifactStore(join(dataDir, 'artifacts'));
  const inputs = await demoInputs(store, join(options.out, 'inputs'));
  const run = randomBytes(4).toString('hex');
  const steady = `media-demo-${run}`;
  const fragile = `${steady}-fragile`;
  const fragileJournal = join(dataDir, 'journal-fragile');
  const { server, sandbox, client, startWorker, close } = await startStack({
    env: stackEnvironment(options.env, true),
    dataDir,
    server: { ...(options.persistent && { dataDir }), ui: true, onProgress: say },
    sandbox: { dataDir: join(dataDir, 'sandbox') },
    worker: { MEDIA_TASK_QUEUE: steady, MEDIA_JOURNAL: join(dataDir, 'journal') },
  });
  const { admin } = sandbox;
  const environment: DemoEnvironment = {
    id: (name) => `demo-${run}-${name}`,
    media: new TemporalMediaClient(client, { taskQueue: steady }),
    store,
    inputs,
    accepted: async (prompt) => (await admin.counters()).acceptedByPromptHash[sha256(prompt)] ?? 0,
    say,
    fragile: {
      media: new TemporalMediaClient(client, { taskQueue: fragile }),
      startWorker: () => startWorker({ MEDIA_TASK_QUEUE: fragile, MEDIA_JOURNAL: fragileJournal }),
      answerRecorded: () => untilAnswered(fragileJournal),
      activitiesOf: (workflowId) => activitiesOf(client, workflowId),
    },
  };
  return { environment, server, admin, store, close };
}

/** Resolves when the journal in a folder contains a response. */
async function untilAnswered(root: string): Promise<void> {
  const journal = createJournal(createFileRecords({ root }));
  const end = Date.now() + ANSWER_LIMIT_MS;
  while (Date.now() < end) {
    const { logs } = await journal.scan(null, 1);
    if (logs.flat().some(({ kind }) => kind === 'answer')) return;
    await delay(1);
  }
  throw new CliError(
    'demo_failed',
    `The worker did not record an answer within ${ANSWER_LIMIT_MS / 1000} s. Its log is in the data directory's "logs" folder.`,
  );
}

async function activitiesOf(client: Client, workflowId: string): Promise<string[]> {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).flatMap(
    ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name ?? [],
  );
}

/** Renders two images and stores them as user files, as the commands do. */
async function demoInputs(
  store: ArtifactStore,
  directory: string,
): Promise<readonly [ArtifactRef, ArtifactRef]> {
  await mkdir(directory, { recursive: true });
  const draw = async (name: string): Promise<ArtifactRef> => {
    const path = join(directory, `${name}.png`);
    await writeFile(
      path,
      renderImage({
        kind: 'image',
        model: 'input',
        prompt: name,
        width: 256,
        height: 256,
        index: 0,
        inputs: [],
      }),
    );
    return (await ingestFile(store, path)).artifact;
  };
  return [await draw('cup'), await draw('table')];
}

/** A case with its result. */
export interface DemoRow {
  readonly name: string;
  readonly why: string;
  readonly expected: string;
  readonly seen: string;
  readonly ok: boolean;
  readonly seconds: number;
  readonly notes: readonly string[];
  readonly files: readonly string[];
}

export interface DemoCheck {
  readonly what: string;
  readonly expected: number;
  readonly seen: number;
  readonly ok: boolean;
}

export interface DemoReport {
  readonly ok: boolean;
  readonly rows: readonly DemoRow[];
  readonly checks: readonly DemoCheck[];
  readonly seconds: number;
}

/**
 * Runs all cases concurrently, saves and verifies the files, and compares the results with the sandbox's own counts.
 */
export async function runDemo(
  { environment, store, admin }: OpenEnvironment,
  out: string,
): Promise<DemoReport> {
  const started = performance.now();
  const rows = await Promise.all(DEMO_CASES.map((one) => runCase(one, environment, store, out)));
  const counters = await admin.counters();
  const violations = (await admin.requests()).flatMap((request) => request.violations);
  const paid = (kind: 'creates' | 'images'): number =>
    DEMO_CASES.reduce((sum, one) => sum + one.paid[kind], 0);
  const checks = [
    check('video creates that the sandbox received', paid('creates'), counters.creates.received),
    check('video creates that the sandbox accepted', paid('creates'), counters.creates.accepted),
    check('image calls that the sandbox accepted', paid('images'), counters.images.accepted),
    check('contract violations that the sandbox saw', 0, violations.length),
  ];
  const ok = [...rows, ...checks].every((one) => one.ok);
  return { ok, rows, checks, seconds: secondsSince(started) };
}

async function runCase(
  { name, why, expected, run }: DemoCase,
  environment: DemoEnvironment,
  store: ArtifactStore,
  out: string,
): Promise<DemoRow> {
  const started = performance.now();
  const files: string[] = [];
  const notes: string[] = [];
  let seen: string;
  try {
    const result = await run(environment);
    seen = result.seen;
    notes.push(...result.notes);
    const artifacts = result.artifacts ?? [];
    for (const [index, ref] of artifacts.entries()) {
      const path = resultPath(out, name, ref, artifacts.length > 1 ? index + 1 : undefined);
      files.push(await saveArtifact(store, ref, path));
      notes.push(await checkMedia(path, ref));
    }
    if (expected.endsWith('completed') && files.length === 0) seen = `${seen} without a file`;
  } catch (error) {
    seen = `error: ${error instanceof Error ? error.message : String(error)}`;
  }
  const row = {
    name,
    why,
    expected,
    seen,
    ok: seen === expected,
    seconds: secondsSince(started),
    notes,
    files,
  };
  for (const line of rowLines(row)) environment.say(line);
  return row;
}

function rowLines(row: DemoRow): string[] {
  const mark = row.ok ? 'ok  ' : 'FAIL';
  const expected = row.ok ? '' : ` (expected ${row.expected})`;
  return [
    `${mark} ${row.name}: ${row.seen}${expected}, ${row.seconds} s: ${row.why}`,
    ...[...row.notes, ...row.files].map((line) => `       ${line}`),
  ];
}

function check(what: string, expected: number, seen: number): DemoCheck {
  return { what, expected, seen, ok: seen === expected };
}

function secondsSince(started: number): number {
  return Math.round((performance.now() - started) / 100) / 10;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
