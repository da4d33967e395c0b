import { makeMp4 } from '../artifacts/make-media';
import { proved, sized } from '../support/proof';
import { ADDRESS_PARSERS } from './fuzz/address-parsers';
import { type FuzzCount, fuzzOne, fuzzParser, noInputs } from './fuzz/fuzz-parser';
import { type FuzzedParser } from './fuzz/fuzzed-parser';
import { HEADER_PARSERS } from './fuzz/header-parsers';
import { mediaParsers } from './fuzz/media-parsers';
import { RECORD_PARSERS } from './fuzz/record-parsers';
import { REPLY_PARSERS } from './fuzz/reply-parsers';

const MEDIA_NAMES = [
  'mp4 boxes and samples',
  'image header',
  'data url',
  'base64',
  'content encoding',
  'bounded json',
];
const WITHOUT_MEDIA = [...REPLY_PARSERS, ...HEADER_PARSERS, ...ADDRESS_PARSERS, ...RECORD_PARSERS];
const NAMES = [...WITHOUT_MEDIA.map(({ name }) => name), ...MEDIA_NAMES];

const INPUTS = sized({ change: 20_000, deep: 1_000_000 });
/** Another one each day, so that every day's run sees other inputs; a finding prints it. */
const SEED = Number(process.env['FUZZ_SEED'] ?? Math.floor(Date.now() / 86_400_000));

const counts = new Map<string, FuzzCount>();
let parsers: readonly FuzzedParser[];

beforeAll(async () => {
  parsers = [...WITHOUT_MEDIA, ...mediaParsers(await makeMp4(2))];
});

it.each(NAMES)(
  '%s: any bytes give a declared result, in bounded time and memory',
  async (name) => {
    const parser = parsers.find((one) => one.name === name)!;
    const repeated = process.env['FUZZ_INPUT'];
    if (repeated !== undefined) {
      await fuzzOne(parser, Buffer.from(repeated, 'base64'), noInputs(), SEED);
      return;
    }
    counts.set(name, await fuzzParser(parser, INPUTS, SEED));
  },
  sized({ change: 120_000, deep: 3_600_000 }),
);

afterAll(() => {
  if (process.env['FUZZ_INPUT'] !== undefined) return;
  const all = [...counts.values()];
  proved('fuzz', {
    parsers: all.length,
    inputs: all.reduce((sum, { inputs }) => sum + inputs, 0),
    'fewest inputs of a parser': Math.min(...all.map(({ inputs }) => inputs)),
    'parsers that failed': NAMES.length - all.length,
    'ms for the slowest input': Math.ceil(Math.max(...all.map(({ slowestMs }) => slowestMs))),
    'MiB for the largest input': Math.ceil(
      Math.max(...all.map(({ largestGrowth }) => largestGrowth)) / 1024 ** 2,
    ),
  });
});
