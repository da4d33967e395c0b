import { readFileSync } from 'node:fs';
import { proved, sized } from '../../support/proof';
import { foundByPart, notePart } from './found-by-part';
import { type FuzzCount, fuzzOne, fuzzParser, noInputs } from './fuzz-parser';
import { type FuzzedParser } from './fuzzed-parser';

const INPUTS = sized({ change: 2_000, deep: 1_000_000 });
/** Another one each day, so that every day's run sees other inputs; a finding prints it. */
const SEED = Number(process.env['FUZZ_SEED'] ?? Math.floor(Date.now() / 86_400_000));

/**
 * One part of the fuzz suite, in a test file of its own, so that the parts share the processors: any bytes give a
 * declared result of each of these parsers, in bounded time and memory.
 * @param make takes samples that have to be made first
 */
export function fuzzSuite(
  part: string,
  names: readonly string[],
  make: () => Promise<readonly FuzzedParser[]>,
): void {
  const counts = new Map<string, FuzzCount>();
  let parsers: readonly FuzzedParser[];

  beforeAll(async () => {
    parsers = await make();
  });

  it.each(names)(
    '%s: any bytes give a declared result, in bounded time and memory',
    async (name) => {
      const parser = parsers.find((one) => one.name === name)!;
      const repeated = process.env['FUZZ_INPUT'];
      if (repeated !== undefined) {
        await fuzzOne(parser, readFileSync(repeated), noInputs(), SEED);
        return;
      }
      counts.set(name, await fuzzParser(parser, INPUTS, SEED));
    },
    sized({ change: 120_000, deep: 3_600_000 }),
  );

  afterAll(() => {
    if (process.env['FUZZ_INPUT'] !== undefined) return;
    notePart(part, { parsers: names.length, counts: [...counts.values()] });
    const found = foundByPart();
    const all = found.flatMap(({ counts: own }) => own);
    proved('fuzz', {
      parsers: all.length,
      inputs: all.reduce((sum, { inputs }) => sum + inputs, 0),
      'fewest inputs of a parser': Math.min(...all.map(({ inputs }) => inputs)),
      'parsers that failed': found.reduce(
        (sum, { parsers: wanted, counts: own }) => sum + wanted - own.length,
        0,
      ),
      'ms for the slowest input': Math.ceil(Math.max(...all.map(({ slowestMs }) => slowestMs))),
      'MiB for the largest input': Math.ceil(
        Math.max(...all.map(({ largestGrowth }) => largestGrowth)) / 1024 ** 2,
      ),
    });
  });
}
