'use strict';
// Files that wait long for timers of a server begin first, so that no worker of jest waits for the last of them alone.
const { default: Sequencer } = require('@jest/test-sequencer');
const path = require('node:path');

/** Those that take longest, by measurement; most of that time they wait. */
const LONG = [
  'test/e2e/keys.test.ts',
  'test/e2e/campaign.test.ts',
  'test/e2e/continue-as-new.test.ts',
  'test/replay/golden.test.ts',
  'test/proof/kill-points.test.ts',
  'test/cli/campaign-life.test.ts',
  'test/e2e/request-seconds.test.ts',
  'test/proof/kill-random.test.ts',
  'test/proof/secrecy.test.ts',
  'test/e2e/operator-commands.test.ts',
  'test/e2e/incidents/terminated-and-revoked.test.ts',
  'test/examples/campaigns.test.ts',
  'test/cli/worker-command.test.ts',
  'test/cli/campaign-at-once.test.ts',
  'test/proof/temporal-faults.test.ts',
  'test/proof/create-model.test.ts',
].map((file) => path.resolve(__dirname, '..', '..', file));

class LongFirst extends Sequencer {
  async sort(tests) {
    const sorted = await super.sort(tests);
    const long = LONG.flatMap((file) => sorted.filter((test) => test.path === file));
    return [...long, ...sorted.filter((test) => !long.includes(test))];
  }
}

module.exports = LongFirst;
