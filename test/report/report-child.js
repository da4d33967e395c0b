'use strict';
// Writes one report and says what it came to: `node report-child.js OPTIONS.json`, with the compiled sources.
const { readFileSync } = require('node:fs');
const path = require('node:path');
const lib = path.resolve(__dirname, '../../lib');
const { FileArtifactStore } = require(path.join(lib, 'artifacts/file-store.js'));
const { writeReport } = require(path.join(lib, 'report/write-report.js'));

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
