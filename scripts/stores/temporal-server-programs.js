'use strict';
// The two programs of a Temporal server of one's own: the server, and the tool that makes its schema in a database. Both
// from PATH, else from our cache, else built once with `go install`.
const { execFileSync } = require('node:child_process');
const path = require('node:path');
const { goInstall } = require('../../packages/testing/lib/temporal-server/download-server.js');
const {
  cliCacheDir,
  findOnPath,
  isExecutableFile,
} = require('../../packages/testing/lib/temporal-server/server-source.js');

/** The tool brings the schema of its own version: both are of one. */
const VERSION = 'v1.32.1';
const MODULE = 'go.temporal.io/server';

const PROGRAMS = {
  server: {
    name: 'the Temporal server',
    package: `${MODULE}/cmd/server@${VERSION}`,
    built: 'server',
    file: 'temporal-server',
  },
  sqlTool: {
    name: 'the schema tool of the Temporal server',
    package: `${MODULE}/cmd/tools/sql@${VERSION}`,
    built: 'sql',
    file: 'temporal-sql-tool',
  },
};

/**
 * @param {(line: string) => void} say progress; a build takes three minutes on two cores
 * @returns {Promise<{server: string, sqlTool: string, version: string}>} paths, and what the server calls its version
 */
async function findTemporalServer(say) {
  const [server, sqlTool] = (await onPath()) ?? (await inCache(say));
  const version = /(\d+\.\d+\.\S+)/.exec(execFileSync(server, ['--version'], { encoding: 'utf8' }))?.[1];
  say(`Temporal server ${version}: ${server}`);
  return { server, sqlTool, version };
}

/** Both or none: the schema of another version would not fit. */
async function onPath() {
  const { server, sqlTool } = PROGRAMS;
  const found = await Promise.all([server, sqlTool].map(({ file }) => findOnPath(file, process.env)));
  return found.includes(null) ? null : found;
}

async function inCache(say) {
  const cacheDir = path.resolve(cliCacheDir(process.env), '..', '..', 'server', VERSION);
  const files = [];
  // One after the other: the second build takes most of its parts from the first.
  for (const program of [PROGRAMS.server, PROGRAMS.sqlTool]) {
    const file = path.join(cacheDir, program.file);
    files.push((await isExecutableFile(file)) ? file : await goInstall(cacheDir, process.env, say, program));
  }
  return files;
}

module.exports = { findTemporalServer };
