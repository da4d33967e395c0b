'use strict';
// Writes docs/measured.md from bench/results: what each benchmark last measured, and the goals that it did not meet.
// Each method is in the notes in bench/results, and bench/before has the results of the previous design. `--check` only
// compares.
const fs = require('node:fs');
const path = require('node:path');
const { formatText } = require('./format-text.js');
const { markdownTable } = require('../bench/framework/result-text.js');

const ROOT = path.resolve(__dirname, '..');
const PAGE = path.join(ROOT, 'docs', 'measured.md');
const FIGURES = path.join(ROOT, 'bench', 'figures');
const RESULTS = path.join(ROOT, 'bench', 'results');

/** What the numbers of a benchmark mean to a reader. */
const MEANING = {
  'campaign-again': 'These are the seconds without purchases.',
  'campaign-disturbed':
    'A gap is the time from one poll of a task to its next, as the service sees it; 4 s are wanted.',
  'campaign-rows': 'From the start of a campaign to its result, at most 2,000 in flight.',
  'campaign-scale':
    'CPU per video includes its create, all polls and its download. Bare requests are the same requests without Temporal and checks ([ADR 14](adr/0014-what-a-video-costs-at-least.md)).',
  'campaign-throughput': 'One worker, server, database and sandbox share the machine.',
  'detection-lag': 'The lag is from the end of a task at the service to its scheduled download.',
  download: 'In brackets: the spread of the rounds.',
  growth: 'Extrapolated from a minute. Fewer polls than wanted: the machine is full.',
  'image-overhead': 'Most of it is the time in which the server hands out any activity.',
  journal:
    'What the journal adds to each paid call; bucket and database are on this machine, and a network comes on top, once for each request.',
  'many-hosts': 'All processes share the cores, so the rate is what they reach together.',
  polling:
    'The lag is from the end of a task to the outcome with its file. Actions are starts, signals, timers and tries of activities. Empty: a workflow of two activities that do nothing.',
  replay: 'Seconds, CPU and memory of `temporal-media replay FOLDER`.',
  'temporal-postgres': 'With PostgreSQL, the CPU of the Temporal server on this page grows by these factors.',
  upload: 'The copy of the file into the store is in the time and in the memory.',
  'wire-faults':
    'Accepted means made and paid for. The openai clients had a time-out of 2 s for each attempt and the other clients 20 s in all; this package ran with its defaults.',
  'worker-start': 'From the call of `createMediaWorker` to pollers that the server shows.',
};

/** Columns for comparing two runs, which the page does not show. */
const HIDDEN = [
  'load',
  'database, MiB/h',
  'ms per poll, server + worker',
  'KiB of database per row',
  'server + worker + sandbox, cores',
  'server + workers + bucket + database, cores',
  'ended per s',
  'runs',
];

/** Returns the table without hidden columns. Merges rows that differ only in their name. */
function shownTable({ columns, rows }) {
  const shown = columns.flatMap((column, at) => (HIDDEN.includes(column) ? [] : [at]));
  const merged = new Map();
  // The median of the rounds is enough.
  const isMedian = rows.some(([name]) => name === 'median');
  for (const row of rows.filter(([name]) => !isMedian || !/^\d+$/.test(name))) {
    const [name, ...cells] = shown.map((at) => row[at]);
    const key = JSON.stringify(cells);
    const same = merged.get(key);
    merged.set(key, same === undefined ? [name, ...cells] : [`${same[0]}, ${name}`, ...cells]);
  }
  return markdownTable([shown.map((at) => columns[at]), ...merged.values()]).join('\n');
}

const goalText = ({ figure, value, unit, goal }) => `${figure} ${value} ${unit} (goal ${goal})`;

function goalsLine(goals) {
  const unmet = goals.filter(({ met }) => !met);
  if (unmet.length > 0)
    return `${goals.length - unmet.length} of ${goals.length} goals met. **Not met**: ${unmet.map(goalText).join('; ')}.`;
  return goals.length === 1 ? `Goal met: ${goalText(goals[0])}.` : 'Goals met.';
}

function sectionOf(name) {
  const file = path.join(RESULTS, `${name}.json`);
  const head = (title) => `## ${name}\n\n\`npm run bench -- ${name}\`: ${title}. ${MEANING[name]}`;
  if (!fs.existsSync(file)) return `${head(require(path.join(FIGURES, name)).title)} It has no result yet.`;
  const { title, machine, table, goals = [], notes = [] } = JSON.parse(fs.readFileSync(file, 'utf8'));
  // Notes about numbers from another run.
  const origin = notes.filter((note) => /commit [0-9a-f]{8}/.test(note));
  return [
    head(title),
    shownTable(table),
    ...origin,
    [
      ...(goals.length === 0 ? [] : [goalsLine(goals)]),
      `${machine.date.slice(0, 10)}, commit ${machine.commit}.`,
    ].join(' '),
  ].join('\n\n');
}

function measuredPage() {
  const names = fs.readdirSync(FIGURES).sort();
  const text = `# Measured

What each benchmark measured last on a machine with 2 cores and 24 GiB, beside its comparison from the same run. Nothing fails on such a
figure. \`node scripts/write-figures.js\` writes this page from \`bench/results\`; \`notes\` there describe the method. For who plans a
machine: [scale](scale.md). For what a video costs in a history: [figures](figures.md).

${names.map((file) => sectionOf(file.replace('.js', ''))).join('\n\n')}
`;
  return formatText(PAGE, text);
}

function main(check) {
  const text = measuredPage();
  if (!check) return fs.writeFileSync(PAGE, text);
  if (fs.readFileSync(PAGE, 'utf8') === text) return;
  console.error('docs/measured.md does not match bench/results. Run node scripts/write-figures.js');
  process.exitCode = 1;
}

main(process.argv.includes('--check'));
