'use strict';
// Two passes of plain tsc: declarations keep their comments for readers, code drops them, because workflow code is
// loaded into every worker (ADR 7). Then what is made of the result: the JSON Schemas, and the bundle
// with which workers start.
const { spawnSync } = require('node:child_process');
const { chmodSync } = require('node:fs');
const path = require('node:path');
const { buildJsonSchemas } = require('./json-schemas.js');
const { buildWorkflowBundle } = require('./workflow-bundle.js');

const root = path.resolve(__dirname, '..');
const tsc = path.join(root, 'node_modules/typescript-7/bin/tsc');
// The build info lies in lib, so that cleaning lib forgets it too; it is not published.
const passes = [
  ['--emitDeclarationOnly', '--tsBuildInfoFile', 'lib/.types.tsbuildinfo'],
  [
    ...['--declaration', 'false', '--declarationMap', 'false', '--removeComments'],
    // The first pass has checked the types.
    ...['--noCheck', '--tsBuildInfoFile', 'lib/.code.tsbuildinfo'],
  ],
];
for (const flags of passes) {
  const { status } = spawnSync(
    process.execPath,
    [tsc, '-p', 'tsconfig.build.json', '--incremental', ...flags],
    {
      cwd: root,
      stdio: 'inherit',
    },
  );
  if (status !== 0) process.exitCode = status ?? 1;
}
// Of code that compiles only.
if (!process.exitCode) {
  // npx in a clone makes the command executable once and then keeps its link: a clean build must not undo that.
  chmodSync(path.join(root, require('../package.json').bin['temporal-media']), 0o755);
  buildJsonSchemas();
  buildWorkflowBundle().catch((error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
}
