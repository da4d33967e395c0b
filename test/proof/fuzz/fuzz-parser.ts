import { writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { getHeapStatistics } from 'node:v8';
import { type JsonValue } from '../../../src/domain/json';
import { type FuzzedParser } from './fuzzed-parser';
import { mutatedBytes } from './mutate-bytes';
import { mutatedJson, randomJson } from './mutate-json';
import { SeededRandom } from './seeded-random';

/**
 * Bounds of one input: milliseconds and bytes. The slowest takes about 50 ms where other suites run beside this one; a
 * parser whose time grows with the square of its input takes minutes, on any machine.
 */
export const MAX_MS = 500;
export const MAX_GROWTH = 64 * 1024 * 1024;
/** Bytes of the largest input: larger ones are for the suites `bounds` and `memory`, as most readers refuse them unparsed. */
const MAX_INPUT = 1024 * 1024;
/** What takes longer is looked at again, so that the figure is the parser's and not the machine's. */
const SUSPECT_MS = 8;

/** What the inputs of one parser came to. */
export interface FuzzCount {
  inputs: number;
  /** Inputs that the parser took, so that a number of mutations reached its inner parts. */
  taken: number;
  slowestMs: number;
  largestGrowth: number;
}

export const noInputs = (): FuzzCount => ({ inputs: 0, taken: 0, slowestMs: 0, largestGrowth: 0 });

/** Runs that many inputs from one seed. @throws Error that names the first finding and how to repeat it */
export async function fuzzParser(parser: FuzzedParser, inputs: number, seed: number): Promise<FuzzCount> {
  const random = new SeededRandom(seed);
  const values = parser.form === 'json' ? parser.seeds.map(jsonOf) : [];
  const count = noInputs();
  for (const input of parser.seeds) await fuzzOne(parser, input, count, seed);
  while (count.inputs < inputs) await fuzzOne(parser, nextInput(parser, values, random), count, seed);
  return count;
}

/** One input alone: what the line of a finding repeats. */
export async function fuzzOne(
  parser: FuzzedParser,
  input: Buffer,
  count: FuzzCount,
  seed: number,
): Promise<void> {
  // A parser that writes into its input must not spoil the line that repeats it.
  const given = Buffer.from(input);
  const first = await measured(parser, given);
  count.inputs += 1;
  const problem = first.problem ?? pollution();
  if (problem !== undefined) throw finding(parser, input, seed, problem);
  // The collector of this machine may have its moment: only what is slow or large each time counts.
  const cost = first.ms > SUSPECT_MS || first.growth > MAX_GROWTH ? await leastOf(parser, given) : first;
  if (cost.ms > MAX_MS) throw finding(parser, input, seed, `it took ${Math.round(cost.ms)} ms`);
  if (cost.growth > MAX_GROWTH) throw finding(parser, input, seed, `it took ${cost.growth} bytes`);
  if (first.taken) count.taken += 1;
  count.slowestMs = Math.max(count.slowestMs, cost.ms);
  count.largestGrowth = Math.max(count.largestGrowth, cost.growth);
}

function nextInput(parser: FuzzedParser, values: readonly JsonValue[], random: SeededRandom): Buffer {
  for (;;) {
    const input = mutated(parser, values, random);
    if (input.length <= MAX_INPUT) return input;
  }
}

function mutated(parser: FuzzedParser, values: readonly JsonValue[], random: SeededRandom): Buffer {
  const bytes = () => mutatedBytes(random.pick(parser.seeds), random, parser.words, parser.seeds);
  if (parser.form === 'bytes' || random.oneIn(4)) return bytes();
  const value = random.oneIn(10)
    ? randomJson(random, parser.words, 5)
    : mutatedJson(random.pick(values), random, parser.words);
  return Buffer.from(JSON.stringify(value));
}

interface Measured {
  readonly ms: number;
  readonly growth: number;
  readonly taken: boolean;
  readonly problem?: string;
}

async function measured(parser: FuzzedParser, input: Buffer): Promise<Measured> {
  const bytesBefore = allocated();
  const before = performance.now();
  let result: unknown;
  let problem: string | undefined;
  try {
    const parsed = parser.parse(input);
    result = parsed instanceof Promise ? await parsed : parsed;
  } catch (error) {
    if (parser.declares?.(error) !== true) problem = `it threw ${describe(error)}`;
  }
  const ms = performance.now() - before;
  const growth = Math.max(0, allocated() - bytesBefore);
  problem ??= parser.wrong(result, input) ?? foreignPrototype(result, 0);
  return { ms, growth, taken: result !== undefined, ...(problem === undefined ? {} : { problem }) };
}

/** The least of three more runs, in time of the processor: other processes of the machine do not count. */
async function leastOf(parser: FuzzedParser, input: Buffer): Promise<{ ms: number; growth: number }> {
  const least = { ms: Infinity, growth: Infinity };
  // A machine under load is slow several times in a row; what is slow by itself is slow every time.
  for (let again = 0; again < 3 || (again < 20 && least.ms > MAX_MS); again += 1) {
    const before = process.cpuUsage();
    const { growth, ms } = await measured(parser, Buffer.from(input));
    const { user, system } = process.cpuUsage(before);
    least.ms = Math.min(least.ms, ms, (user + system) / 1000);
    least.growth = Math.min(least.growth, growth);
  }
  return least;
}

function allocated(): number {
  const { used_heap_size: heap, external_memory: external } = getHeapStatistics();
  return heap + external;
}

const OBJECT_NAMES = Object.getOwnPropertyNames(Object.prototype).length;
const ARRAY_NAMES = Object.getOwnPropertyNames(Array.prototype).length;

/** Whether any input so far has reached the objects that all others share. */
function pollution(): string | undefined {
  const isClean =
    Object.getOwnPropertyNames(Object.prototype).length === OBJECT_NAMES &&
    Object.getOwnPropertyNames(Array.prototype).length === ARRAY_NAMES;
  return isClean ? undefined : 'it changed the prototype of every object';
}

/** A result is plain data: no field called `__proto__` and no prototype of the sender's. */
function foreignPrototype(value: unknown, depth: number): string | undefined {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value) || depth > 70)
    return undefined;
  if (Object.getPrototypeOf(value) !== Object.prototype && !Array.isArray(value) && !(value instanceof URL))
    return 'its result has a prototype of the sender';
  if (Object.hasOwn(value, '__proto__')) return 'its result has a field __proto__';
  for (const inner of Object.values(value)) {
    const problem = foreignPrototype(inner, depth + 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function describe(error: unknown): string {
  const { name, message } = Object(error) as { name?: unknown; message?: unknown };
  return `${String(name)}: ${String(message)}`;
}

function finding(parser: FuzzedParser, input: Buffer, seed: number, problem: string): Error {
  const file = path.join(os.tmpdir(), `fuzz-input-${process.pid}-${parser.name.replaceAll(/\W/g, '-')}`);
  writeFileSync(file, input);
  const lines = [
    `${parser.name}: ${problem} (seed ${seed}, ${input.length} bytes)`,
    `Repeat: FUZZ_INPUT=${file} npx jest test/proof/fuzz- -t '${parser.name}'`,
  ];
  return new Error(lines.join('\n'));
}

const jsonOf = (seed: Buffer) => JSON.parse(seed.toString('utf8')) as JsonValue;
