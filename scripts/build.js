'use strict';
// Builds every package's `lib`, the core first, in two passes of plain tsc. Declarations keep their comments for
// readers, and code drops them, because workflow code is loaded into every worker (ADR 7). Then builds the JSON Schemas
// and the bundles that workers start with.
const { spawnSync } = require('node:child_process');
const path = require('node:path');
const { buildJsonSchemas } = require('./json-schemas.js');
const { buildNoticesBundle } = require('./notices-bundle.js');
const { packageFolders, ROOT } = require('./packages.js');
const { buildWorkflowBundle } = require('./workflow-bundle.js');

const tsc = path.join(ROOT, 'node_modules/typescript-7/bin/tsc');
// The build info is in lib, so that cleaning lib removes it too. It is not published.
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

// Only if everything compiles.
if (packageFolders().every(compile)) {
  buildJsonSchemas();
  buildWorkflowBundle()
    .then(buildNoticesBundle)
    .catch((error) => {
      console.error(error.message);
      process.exitCode = 1;
    });
}
