'use strict';
// `npm run bench [-- NAME…]`: prints each figure beside what it is compared with, both from the same run, and keeps it
// with the facts of the machine in bench/results/NAME.json. Goals are told as met or not met; nothing fails on a figure.
const { spawnSync } = require('node:child_process');
const path = require('node:path');
const { performance } = require('node:perf_hooks');
const { parseArguments, USAGE } = require('./framework/arguments.js');
const { machineFacts } = require('./framework/machine-facts.js');
const { resultText } = require('./framework/result-text.js');
const { Scope } = require('./framework/scope.js');
const { writeResult } = require('./framework/write-result.js');

const ROOT = path.resolve(__dirname, '..');

/** In the order in which they are run; each is a file of bench/figures. */
const NAMES = [
  'image-overhead',
  'images',
  'detection-lag',
  'download',
  'upload',
  'worker-start',
  'replay',
  'wire-faults',
  'growth',
  'journal',
  'money',
  'polling',
  'poll-cost',
  'local-polls',
  'campaign-scale',
  'campaign-throughput',
  'campaign-disturbed',
  'campaign-again',
  'campaign-rows',
  'fairness',
  'many-hosts',
  'temporal-postgres',
];

async function main(args) {
  const options = parseArguments(args, NAMES);
  if (options.help) return console.log(USAGE);
  if (options.list) return console.log(NAMES.map(described).join('\n'));
  if (options.build) build();
  const results = [];
  for (const name of options.names) {
    const result = await runOne(name, options);
    results.push(result);
    if (!options.quick || options.results !== undefined) {
      await writeResult(path.resolve(options.results ?? path.join(__dirname, 'results')), result);
    }
    if (!options.json) console.log(`${resultText(result)}\n`);
  }
  if (options.json) console.log(JSON.stringify({ results }, null, 2));
}

function described(name) {
  return `${name.padEnd(21)}${require(`./figures/${name}.js`).title}`;
}

async function runOne(name, { quick, minutes }) {
  const { title, run } = require(`./figures/${name}.js`);
  const scope = new Scope();
  // Ctrl-C leaves no server and no folder behind.
  const interrupted = () => void scope.close().finally(() => process.exit(130));
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  const before = machineFacts(ROOT);
  const startedAt = performance.now();
  try {
    const say = (line) => console.error(`${name}: ${line}`);
    const { server = null, ...figures } = await run({ scope, say, quick, minutes });
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    return { v: 1, name, title, quick, seconds, machine: { ...before, temporalServer: server }, ...figures };
  } finally {
    await scope.close();
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
  }
}

function build() {
  const { status } = spawnSync(process.execPath, [path.join(ROOT, 'scripts', 'build.js')], {
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) throw new Error('The package does not build.');
}

main(process.argv.slice(2)).then(
  // Native threads of the SDK may outlive their last handle.
  () => process.exit(process.exitCode ?? 0),
  (error) => {
    console.error(error.usage === true ? error.message : error);
    process.exit(error.usage === true ? 2 : 1);
  },
);
