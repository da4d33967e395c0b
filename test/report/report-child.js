'use strict';
// Writes one report and says what it came to: `node report-child.js OPTIONS.json`, with the compiled sources.
const { readFileSync } = require('node:fs');
const { FileArtifactStore } = require('../../lib/stores/artifacts/file-store.js');
const { writeReport } = require('../../packages/report/lib/index.js');

const { store, ...options } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const onProgress = ({ pagesDone }) => process.stdout.write(`page ${pagesDone}\n`);
process.stdout.write('started\n');
writeReport({ ...options, store: new FileArtifactStore(store), onProgress }).then(
  (summary) => {
    const kilobytes = process.resourceUsage().maxRSS;
    process.stdout.write(`${JSON.stringify({ ...summary, kilobytes })}\n`);
  },
  (error) => {
    process.stderr.write(`${error.stack}\n`);
    process.exitCode = 1;
  },
);
