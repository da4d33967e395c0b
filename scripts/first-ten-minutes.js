'use strict';
// `npm run first-ten-minutes [-- --check]`: types the session of docs/first-ten-minutes.md into real terminals (tmux)
// and writes the page. With --check, compares the recording with the page instead, and exits with 1 if the program's
// output has changed.
const fs = require('node:fs');
const path = require('node:path');
const { normalised, pageOf } = require('./first-ten-minutes/page');
const { record } = require('./first-ten-minutes/record');
const { hasTmux } = require('./first-ten-minutes/terminal');

const PAGE = path.resolve(__dirname, '..', 'docs', 'first-ten-minutes.md');

async function main(check) {
  if (!hasTmux())
    throw new Error('tmux is not installed. Install it: the session is recorded in a tmux terminal.');
  const page = pageOf(await record((step) => console.error(step.type ?? step.press)));
  if (!check) return fs.writeFileSync(PAGE, page);
  const lines = (text) => normalised(text).split('\n');
  const [now, then] = [lines(page), lines(fs.readFileSync(PAGE, 'utf8'))];
  const at = now.findIndex((line, index) => line !== then[index]);
  if (at < 0 && now.length === then.length) return console.log("The page matches the program's output.");
  const place = at < 0 ? now.length : at;
  console.log(`Line ${place + 1} differs.\npage: ${then[place]}\nnow:  ${now[place]}\n\n${page}`);
  process.exitCode = 1;
}

main(process.argv.includes('--check')).catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
