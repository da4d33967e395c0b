'use strict';
// The command line of `npm run bench`.
const { parseArgs } = require('node:util');

const USAGE = `npm run bench [-- NAME… [options]]

Without a name all benchmarks run, one after the other.
  --list          names and what each measures
  --json          results as JSON on standard output; progress is on standard error
  --minutes N     how long the growth of the database is watched (default 2)
  --quick         small sizes, to check that it works; kept only with --results
  --results DIR   where NAME.json is written (default bench/results)
  --no-build      take lib as it is

BENCH_SIZES=250,1000 takes only these sizes of campaign-scale, campaign-rows, poll-cost and money, BENCH_SIZES=250x60
these of polling (videos in flight x seconds of each), BENCH_RATES=150,200 only these rates of campaign-throughput,
BENCH_STORES=files,s3 only these stores of money; BENCH_IN_FLIGHT=1000 is for campaign-throughput and
campaign-disturbed.`;

/** @throws an error with `usage: true` for what is not understood */
function parseArguments(args, known) {
  const { values, positionals } = parsed(args);
  const unknown = positionals.find((name) => !known.includes(name));
  if (unknown !== undefined) throw usage(`There is no benchmark ${unknown}. There are: ${known.join(', ')}.`);
  const minutes = Number(values.minutes ?? 2);
  if (!(minutes > 0 && minutes <= 600)) throw usage('--minutes must be a number above 0 and up to 600.');
  return {
    names: positionals.length === 0 ? known : [...new Set(positionals)],
    list: values.list === true,
    json: values.json === true,
    help: values.help === true,
    quick: values.quick === true,
    build: values['no-build'] !== true,
    minutes,
    ...(values.results === undefined ? {} : { results: values.results }),
  };
}

function parsed(args) {
  const flag = { type: 'boolean' };
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        list: flag,
        json: flag,
        help: { ...flag, short: 'h' },
        quick: flag,
        'no-build': flag,
        minutes: { type: 'string' },
        results: { type: 'string' },
      },
    });
  } catch (error) {
    throw usage(error.message);
  }
}

const usage = (message) => Object.assign(new Error(`${message}\n\n${USAGE}`), { usage: true });

module.exports = { parseArguments, USAGE };
