'use strict';
// The two programs of a separate Temporal server: the server, and the tool that creates its schema in a database. Both
// come from PATH or our cache, or are built once with `go install`.
const { execFileSync } = require('node:child_process');
const path = require('node:path');
const { goInstall } = require('../../packages/testing/lib/temporal-server/download-server.js');
const {
  cliCacheDir,
  findOnPath,
  isExecutableFile,
} = require('../../packages/testing/lib/temporal-server/server-source.js');

/** The tool contains its own version's schema, so both programs have the same version. */
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
    name: "the Temporal server's schema tool",
    package: `${MODULE}/cmd/tools/sql@${VERSION}`,
    built: 'sql',
    file: 'temporal-sql-tool',
  },
};

/**
 * @param {(line: string) => void} say progress; a build takes three minutes on two cores
 * @returns {Promise<{server: string, sqlTool: string, version: string}>} paths, and the version that the server reports
 */
async function findTemporalServer(say) {
  const [server, sqlTool] = (await onPath()) ?? (await inCache(say));
  const version = /(\d+\.\d+\.\S+)/.exec(execFileSync(server, ['--version'], { encoding: 'utf8' }))?.[1];
  say(`Temporal server ${version}: ${server}`);
  return { server, sqlTool, version };
}

/** Returns both programs or null, because another version's schema would not match. */
async function onPath() {
  const { server, sqlTool } = PROGRAMS;
  const found = await Promise.all([server, sqlTool].map(({ file }) => findOnPath(file, process.env)));
  return found.includes(null) ? null : found;
}

async function inCache(say) {
  const cacheDir = path.resolve(cliCacheDir(process.env), '..', '..', 'server', VERSION);
  const files = [];
  // In sequence, because the second build reuses most of the first one's parts.
  for (const program of [PROGRAMS.server, PROGRAMS.sqlTool]) {
    const file = path.join(cacheDir, program.file);
    files.push((await isExecutableFile(file)) ? file : await goInstall(cacheDir, process.env, say, program));
  }
  return files;
}

module.exports = { findTemporalServer };
