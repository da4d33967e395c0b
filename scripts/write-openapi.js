'use strict';
// Writes docs/openapi/{strict,compat}.json from the sandbox in lib (run `npm run build` first). A test compares them.
const fs = require('node:fs');
const path = require('node:path');
const { formatText } = require('./format-text.js');
const { openapiDocument } = require('../packages/sandbox/lib/openapi/document.js');

const folder = path.resolve(__dirname, '..', 'docs', 'openapi');

function write(mode) {
  const file = path.join(folder, `${mode}.json`);
  fs.writeFileSync(file, formatText(file, JSON.stringify(openapiDocument(mode))));
}

fs.mkdirSync(folder, { recursive: true });
['strict', 'compat'].forEach(write);
