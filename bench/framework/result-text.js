'use strict';
// A result as a reader sees it: a Markdown table with aligned columns, goals, notes.

function resultText({ name, title, seconds, quick, machine, table, goals = [], notes = [] }) {
  return [
    `${name}: ${title}${quick ? ' (quick: small numbers, no figures to quote)' : ''}`,
    '',
    ...markdownTable([table.columns, ...table.rows]),
    '',
    ...goals.map(goalLine),
    ...notes.map((note) => `- ${note}`),
    `(${seconds} s; ${machine.cores} cores, ${machine.memoryGiB} GiB, Node ${machine.node}, commit ${machine.commit}, load ${machine.loadAverage.join(' ')})`,
  ].join('\n');
}

function goalLine({ figure, value, unit, goal, met }) {
  return `goal ${met ? 'met' : 'NOT met'}: ${figure} ${value} ${unit} (goal ${goal})`;
}

function markdownTable(rows) {
  const widths = rows[0].map((_cell, column) =>
    Math.max(3, ...rows.map((row) => String(row[column]).length)),
  );
  const line = (cells) => `| ${cells.map((cell, at) => String(cell).padEnd(widths[at])).join(' | ')} |`;
  const [head, ...body] = rows;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)];
}

module.exports = { markdownTable, resultText };
