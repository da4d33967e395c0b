'use strict';
const { mkdir, writeFile } = require('node:fs/promises');
const path = require('node:path');
const { formatText } = require('../../scripts/format-text.js');

/** Writes NAME.json as `npm run format` wants it, because results are committed. */
async function writeResult(folder, result) {
  const file = path.join(folder, `${result.name}.json`);
  await mkdir(folder, { recursive: true });
  await writeFile(file, formatText(file, JSON.stringify(result)));
  return file;
}

module.exports = { writeResult };
