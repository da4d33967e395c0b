'use strict';
const { setTimeout: delay } = require('node:timers/promises');
const { QUEUES } = require('./stage');

const REQUEST = { model: 'cine-1', prompt: 'a paper boat on a lake', durationSeconds: 2, resolution: '480p' };

/**
 * One golden case. `name` is `<workflow>.<case>`. The case is written only if it ended with the outcome `expect`. `run`
 * returns the started handles by file stem.
 * @typedef {{ name: string, expect: string | null, run(stage: object): Promise<{ handle: object, server: object, stem: string, firstRunId?: string }[]> }} GoldenCase
 */

/**
 * Returns a case with scripted activities. `scriptFor(name)` returns their answers, `options.input` adds to the
 * workflow's input, `options.start` adds to the start options, and `options.act` does something to the running
 * workflow.
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

/**
 * Polls until the history has `count` events with these attributes, because another process cannot subscribe to events.
 */
async function untilEvent(handle, attributes, count = 1) {
  for (const end = Date.now() + 60_000; ; await delay(50)) {
    const { events = [] } = await handle.fetchHistory().catch(notStarted);
    if (events.filter((event) => event[attributes]).length >= count) return;
    if (Date.now() > end) throw new Error(`${handle.workflowId}: no ${count} x ${attributes}`);
  }
}

/** Ignores a missing workflow: a watcher starts some time after its video names it. */
function notStarted(error) {
  if (error.code !== NOT_FOUND) throw error;
  return {};
}

/** gRPC status. */
const NOT_FOUND = 5;

module.exports = { REQUEST, scriptedCase, untilEvent };
