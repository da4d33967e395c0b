'use strict';
// Everything that a benchmark starts is ended with it, in the opposite order.
const { mkdtemp, rm } = require('node:fs/promises');
const { tmpdir } = require('node:os');
const path = require('node:path');

class Scope {
  #undo = [];

  /** Called when the scope is closed. */
  defer(step) {
    this.#undo.push(step);
  }

  /** A folder that goes with the scope. */
  async folder() {
    const folder = await mkdtemp(path.join(tmpdir(), 'temporal-media-bench-'));
    this.defer(() => rm(folder, { recursive: true, force: true }));
    return folder;
  }

  /** Ends all of it, also when one step fails; the first failure is thrown then. */
  async close() {
    let failure;
    for (let step = this.#undo.pop(); step !== undefined; step = this.#undo.pop()) {
      await Promise.resolve()
        .then(step)
        .catch((error) => (failure ??= error));
    }
    if (failure !== undefined) throw failure;
  }
}

module.exports = { Scope };
