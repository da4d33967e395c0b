'use strict';
// Writes docs/openapi/{strict,compat}.json from the sandbox in lib (run `npm run build` first); a test compares them.
const fs = require('node:fs');
const path = require('node:path');
const prettier = require('prettier');
const { openapiDocument } = require('../lib/testing/sandbox/openapi/document.js');

const folder = path.resolve(__dirname, '..', 'docs', 'openapi');

async function write(mode) {
  const file = path.join(folder, `${mode}.json`);
  const options = await prettier.resolveConfig(file);
  const text = await prettier.format(JSON.stringify(openapiDocument(mode)), { ...options, parser: 'json' });
  fs.writeFileSync(file, text);
}

fs.mkdirSync(folder, { recursive: true });
Promise.all(['strict', 'compat'].map(write)).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
