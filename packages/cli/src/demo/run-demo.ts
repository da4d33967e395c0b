import { type ArtifactStore } from 'temporal-media/stores';
import { resultPath, saveArtifact } from '../save-results';
import { checkMedia, DEMO_CASES } from './cases';
import { type DemoCase, type DemoEnvironment } from './demo-case';
import { type OpenEnvironment } from './environment';

/** A row of the table with its result. */
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

/** Runs every case at once, saves and verifies the files, and compares with what the sandbox itself counted. */
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
    check('violations of the contract that the sandbox saw', 0, violations.length),
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
