'use strict';
// Builds `lib` of every package, the core first: two passes of plain tsc, where declarations keep their comments for
// readers and code drops them, because workflow code is loaded into every worker (ADR 7). Then what is made of the result:
// the JSON Schemas, and the bundle with which workers start.
const { spawnSync } = require('node:child_process');
const path = require('node:path');
const { buildJsonSchemas } = require('./json-schemas.js');
const { packageFolders, ROOT } = require('./packages.js');
const { buildWorkflowBundle } = require('./workflow-bundle.js');

const tsc = path.join(ROOT, 'node_modules/typescript-7/bin/tsc');
// The build info lies in lib, so that cleaning lib forgets it too; it is not published.
const PASSES = [
  ['--emitDeclarationOnly', '--tsBuildInfoFile', 'lib/.types.tsbuildinfo'],
  [
    ...['--declaration', 'false', '--declarationMap', 'false', '--removeComments'],
    // The first pass has checked the types.
    ...['--noCheck', '--tsBuildInfoFile', 'lib/.code.tsbuildinfo'],
  ],
];

function compile(folder) {
  return PASSES.every((flags) => {
    const args = [tsc, '-p', 'tsconfig.build.json', '--incremental', ...flags];
    const { status } = spawnSync(process.execPath, args, { cwd: folder, stdio: 'inherit' });
    if (status !== 0) process.exitCode = status ?? 1;
    return status === 0;
  });
}

// Of code that compiles only.
if (packageFolders().every(compile)) {
  buildJsonSchemas();
  buildWorkflowBundle().catch((error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
}
