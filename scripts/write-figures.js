'use strict';
// Writes docs/measured.md from bench/results: what `npm run bench` measured last, with its goals, and beside it from
// bench/before what the design before this one came to on the same machine. `--check` only compares.
const fs = require('node:fs');
const path = require('node:path');
const { formatText } = require('./format-text.js');
const { markdownTable } = require('../bench/framework/result-text.js');

const ROOT = path.resolve(__dirname, '..');
const PAGE = path.join(ROOT, 'docs', 'measured.md');
const RESULTS = path.join(ROOT, 'bench', 'results');
const BEFORE = path.join(ROOT, 'bench', 'before');

const goalLine = ({ figure, value, unit, goal, met }) =>
  `- ${met ? 'met' : '**not met**'}: ${figure}, ${value} ${unit} (goal ${goal})`;

const measuredOn = ({ date, cores, memoryGiB, node, commit }) =>
  `${cores} cores, ${memoryGiB} GiB, Node ${node}, ${date.slice(0, 10)}, commit ${commit}.`;

/** What the same figure was with the design before. */
function beforeOf(name) {
  const file = path.join(BEFORE, `${name}.json`);
  if (!fs.existsSync(file)) return [];
  const { title, machine, table } = JSON.parse(fs.readFileSync(file, 'utf8'));
  return [
    `Before (${title}):`,
    markdownTable([table.columns, ...table.rows]).join('\n'),
    measuredOn(machine),
  ];
}

function sectionOf({ name, title, machine, table, goals = [], notes = [] }) {
  return [
    `## ${name}: ${title}`,
    markdownTable([table.columns, ...table.rows]).join('\n'),
    ...(goals.length === 0 ? [] : [`Goals:\n\n${goals.map(goalLine).join('\n')}`]),
    ...(notes.length === 0 ? [] : [notes.map((note) => `- ${note}`).join('\n')]),
    measuredOn(machine),
    ...beforeOf(name),
  ].join('\n\n');
}

function measuredPage() {
  const results = fs
    .readdirSync(RESULTS)
    .sort()
    .map((file) => JSON.parse(fs.readFileSync(path.join(RESULTS, file), 'utf8')));
  const text = `# Measured

What \`npm run bench\` measured last, with the goals that were set; \`node scripts/write-figures.js\` writes this page from
\`bench/results\`. Tables headed "Before" are of the design before, on the same machine, from
\`bench/before\`. What each benchmark is for stands in [figures.md](figures.md).

${results.map(sectionOf).join('\n\n')}
`;
  return formatText(PAGE, text);
}

function main(check) {
  const text = measuredPage();
  if (!check) return fs.writeFileSync(PAGE, text);
  if (fs.readFileSync(PAGE, 'utf8') === text) return;
  console.error('docs/measured.md is older than bench/results: run node scripts/write-figures.js');
  process.exitCode = 1;
}

main(process.argv.includes('--check'));
