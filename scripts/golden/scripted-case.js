'use strict';
const { setTimeout: delay } = require('node:timers/promises');
const { QUEUES } = require('./stage');

const REQUEST = { model: 'cine-1', prompt: 'a paper boat on a lake', durationSeconds: 2, resolution: '480p' };

/**
 * One golden case: `name` is `<workflow>.<case>`, `expect` the outcome that it must have ended with before it is
 * written. `run` gives the started handles by file stem.
 * @typedef {{ name: string, expect: string | null, run(stage: object): Promise<{ handle: object, server: object, stem: string, firstRunId?: string }[]> }} GoldenCase
 */

/**
 * A case with scripted activities. `scriptFor(name)` tells what they answer; `options.input` adds to the workflow's
 * input, `options.start` to the start options, `options.act` does something to the running workflow.
 */
function scriptedCase(name, expect, scriptFor, options = {}) {
  const type = name.slice(0, name.indexOf('.'));
  return {
    name,
    expect,
    async run(stage) {
      const server = options.continuing ? stage.continuing : stage.plain;
      stage.scripted.add(name, scriptFor(name));
      const handle = await server.client.workflow.start(type, {
        taskQueue: options.taskQueue ?? QUEUES.scripted,
        workflowId: name,
        ...options.start,
        args: [options.args ? options.args(name) : { request: REQUEST, creationKey: name, ...options.input }],
      });
      await options.act?.(handle, { ...server, untilEvent });
      return [{ handle, server, stem: name }];
    },
  };
}

/** Waits until the history holds `count` events with these attributes: another process has no event to listen to. */
async function untilEvent(handle, attributes, count = 1) {
  for (const end = Date.now() + 60_000; ; await delay(50)) {
    const { events = [] } = await handle.fetchHistory().catch(notStarted);
    if (events.filter((event) => event[attributes]).length >= count) return;
    if (Date.now() > end) throw new Error(`${handle.workflowId}: no ${count} x ${attributes}`);
  }
}

/** A watcher is started some time after its video has named it. */
function notStarted(error) {
  if (error.code !== NOT_FOUND) throw error;
  return {};
}

/** Of gRPC. */
const NOT_FOUND = 5;

module.exports = { REQUEST, scriptedCase, untilEvent };
