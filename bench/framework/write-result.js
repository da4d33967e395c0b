'use strict';
const { mkdir, writeFile } = require('node:fs/promises');
const path = require('node:path');
const prettier = require('prettier');

/** Writes NAME.json as `npm run format` wants it, because results are committed. */
async function writeResult(folder, result) {
  const file = path.join(folder, `${result.name}.json`);
  const style = await prettier.resolveConfig(path.join(__dirname, '..', 'results', 'any.json'));
  await mkdir(folder, { recursive: true });
  await writeFile(file, await prettier.format(JSON.stringify(result), { ...style, parser: 'json' }));
  return file;
}

module.exports = { writeResult };
