'use strict';
// What the requests of a campaign cost without it, at the rates that it reached.
const { startBenchChild } = require('./child.js');
const { API_KEY, cleanEnvironment, startSandbox } = require('./media-stack.js');
const { Scope } = require('./scope.js');

/** Milliseconds of CPU per video of one process that does nothing else. The service is a sandbox of its own. */
async function measureBareFlow({ scope }, { videosPerSecond, pollsPerSecond, forMs }) {
  const inner = new Scope();
  scope.defer(() => inner.close());
  try {
    const sandbox = await startSandbox(inner, { videos: 'stamped' });
    const env = {
      ...cleanEnvironment(),
      BENCH_URL: sandbox.url,
      BENCH_KEY: API_KEY,
      BENCH_FOLDER: await inner.folder(),
    };
    const child = await startBenchChild(inner, 'bare-flow', env);
    const { videos, polls, cpuMs } = await child.ask({ videosPerSecond, pollsPerSecond, forMs });
    return { msPerVideo: cpuMs / videos, pollsPerVideo: polls / videos };
  } finally {
    await inner.close();
  }
}

module.exports = { measureBareFlow };
