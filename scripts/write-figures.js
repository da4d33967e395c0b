'use strict';
// Writes docs/measured.md from bench/results: the last result of each benchmark, and its goals. `notes` in bench/results
// describe the method; bench/before contains results of the earlier design. `--check` only compares.
const fs = require('node:fs');
const path = require('node:path');
const { formatText } = require('./format-text.js');
const { markdownTable } = require('../bench/framework/result-text.js');

const ROOT = path.resolve(__dirname, '..');
const PAGE = path.join(ROOT, 'docs', 'measured.md');
const FIGURES = path.join(ROOT, 'bench', 'figures');
const RESULTS = path.join(ROOT, 'bench', 'results');

/** What each benchmark measures, and how to read its numbers. */
const MEANING = {
  'campaign-again':
    'How soon a campaign buys again after it is terminated under load and immediately restarted.',
  'campaign-disturbed':
    'Gaps between two polls of a task (target 4 s), while batches hand back their rows and while some polls take 2 s.',
  'campaign-rows': 'Cost per row from the start of a campaign to its result, with at most 2,000 in flight.',
  'campaign-scale':
    'Many videos in flight at a 4 s interval. CPU per video includes its create, polls and download. Bare requests are the same requests without Temporal or checks ([ADR 14](adr/0014-what-a-video-costs-at-least.md)).',
  'campaign-throughput': 'Small videos created, polled and downloaded per second, with 10,000 in flight.',
  'detection-lag':
    'How soon a download is scheduled after its task has ended at the service, with 100 single videos in flight, and the CPU per poll.',
  download: 'Downloading and hashing 1 GiB, compared with `curl | tee | openssl`.',
  fairness:
    'Ten rows of one tenant beside ten campaigns of another, at 20 creates a second, on a server with fairness.',
  growth:
    'How fast the database grows, extrapolated from one minute. Fewer polls than the target mean a saturated machine.',
  'image-overhead':
    'An image call as an activity, compared with a bare undici POST. Most of the overhead is the time to hand out any activity.',
  images:
    'An image call without a workflow, compared with the workflow `generateImage` ([ADR 37](adr/0037-images-run-without-a-workflow.md)).',
  journal:
    'What the journal adds to a paid call, compared with two bare requests to the same store, which is on this machine. Add your network latency to each request.',
  'local-polls': 'What Temporal takes for a poll ([ADR 33](adr/0033-polls-are-not-local-activities.md)).',
  'many-hosts':
    'One campaign on several workers, with the journal in PostgreSQL and artifacts in a bucket. All processes share two cores.',
  'poll-cost': 'CPU per poll while no video starts or ends, on server and worker.',
  money: '[Closing a month](money.md) over a whole journal.',
  polling:
    '[Ways to run many videos](how-many-videos.md), at a 4 s interval. The lag is the time from the end of a task to the outcome with its file. "Empty" is a workflow with two empty activities.',
  replay: 'Time and memory of `temporal-media replay FOLDER` for a thousand histories of 225 polls each.',
  'temporal-postgres': 'With PostgreSQL persistence, the server CPU on this page grows by these factors.',
  upload: 'An image edit that uploads 300 MB and copies it into the store.',
  'wire-faults':
    'Creates that the server received and accepted (paid for) under eight wire faults. The openai client had a timeout of 2 s per attempt, the AI SDK 20 s in total, and this package its defaults.',
  'worker-start': 'How long `createMediaWorker` takes until the server lists its pollers.',
};

/** Columns that the page leaves out: for comparing two runs, or said by another column. */
const HIDDEN = [
  'load',
  'openai 6.49.0, one reply hit',
  'openai 6.49.0, every reply hit',
  '… until it is created, ms',
  'database, MiB/h',
  'ms per poll, server + worker',
  'KiB of database per row',
  'server + worker + sandbox, cores',
  'server + workers + bucket + database, cores',
  'ended per s',
  'events, KiB of history per video',
  's',
  'polls per row',
  'full after, s',
  'second half, MiB',
  'events + share of watcher',
  'actions + share of watcher',
  'runs',
];

/** Columns that are not about what the benchmark measures. */
const HIDDEN_IN = {
  'campaign-disturbed': [
    'in flight (reached)',
    'created / downloaded per s',
    'ms per video, server + worker',
    'worker, MiB',
  ],
  growth: ['history events per hour', 'history, MiB per hour', 'cores, server + worker'],
};

/** Rows that the page leaves out, because another column or two other rows say the same, or the row above contains them. */
const HIDDEN_ROWS =
  /^(?:empty|…)|: ratio$|^media\.generateImage compared|^per (?:poll|row), [eP]|^(?:s3|postgres): \*/;

/**
 * Formats the table without hidden, empty and constant columns. Rows that differ only in their name are merged, and a
 * single row becomes a line.
 */
function shownTable({ columns, rows: all }, benchmark) {
  // The median represents all rounds.
  const isMedian = all.some(([name]) => name === 'median');
  const rows = all.filter(([name]) => !HIDDEN_ROWS.test(name) && !(isMedian && /^\d+$/.test(name)));
  const shown = columns.flatMap((column, at) => {
    const isConstant = rows.every((row) => row[at] === rows[0][at]);
    const isHidden = HIDDEN.includes(column) || HIDDEN_IN[benchmark]?.includes(column);
    return isHidden || (isConstant && (rows.length > 1 || rows[0][at] === '')) ? [] : [at];
  });
  const merged = new Map();
  for (const row of rows) {
    const [name, ...cells] = shown.map((at) => row[at]);
    const key = JSON.stringify(cells);
    const same = merged.get(key);
    merged.set(key, same === undefined ? [name, ...cells] : [`${same[0]}, ${name}`, ...cells]);
  }
  const table = [shown.map((at) => columns[at]), ...merged.values()].map((cells) =>
    // Of these times, only ratios are shown.
    cells.map((cell) => String(cell).replaceAll(' / ', ', ').replace('CPU, ms', 'CPU')),
  );
  if (table.length > 2) return markdownTable(table).join('\n');
  const [head, cells] = table;
  const named = cells.map((cell, at) => (at === 0 && /\D/.test(cell) ? cell : `${head[at]}: ${cell}`));
  return `${named.join('; ')}.`;
}

const goalText = ({ figure, value, unit, goal }) => `${figure} is ${value} ${unit} (goal ${goal})`;

/** `240 shared: times empty`: several figures have one goal, which is named once. */
function unmetText(unmet) {
  const byGoal = new Map();
  for (const { figure, value, unit, goal } of unmet) {
    const [of, what = of] = figure.replace(/^(.*) with ([\d,]+ in flight)$/, '$2: $1').split(': ');
    const key = `${what} (goal ${`${goal} ${unit}`.trim()})`;
    byGoal.set(key, [...(byGoal.get(key) ?? []), of === what ? value : `${of} ${value}`]);
  }
  return [...byGoal].map(([goal, values]) => `${goal}: ${values.join(', ')}`).join('; ');
}

function goalsLine(goals) {
  const unmet = goals.filter(({ met }) => !met);
  if (unmet.length > 0) return `**Not met** (${unmet.length} of ${goals.length}): ${unmetText(unmet)}.`;
  return goals.length === 1 ? `Goal met: ${goalText(goals[0])}.` : 'Goals met.';
}

function sectionOf(name) {
  const file = path.join(RESULTS, `${name}.json`);
  const head = `## ${name}\n\n${MEANING[name]}`;
  if (!fs.existsSync(file)) return `${head} No result has been recorded yet.`;
  const { machine, table, goals = [], notes = [] } = JSON.parse(fs.readFileSync(file, 'utf8'));
  // Notes that name a commit say which numbers come from another run.
  const origin = notes.filter((note) => /commit [0-9a-f]{8}/.test(note));
  return [
    head,
    shownTable(table, name),
    ...origin,
    [...(goals.length === 0 ? [] : [goalsLine(goals)]), `${machine.date.slice(0, 10)}.`].join(' '),
  ].join('\n\n');
}

function measuredPage() {
  const names = fs.readdirSync(FIGURES).sort();
  const text = `# Measured

The last result of each benchmark, on a machine with 2 cores and 24 GiB. Repeat one with \`npm run bench -- NAME\`.
[Scale](scale.md) helps you size a machine. \`node scripts/write-figures.js\` writes this page from \`bench/results\`,
where \`machine\` names the commit and \`notes\` describe the method.

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
