'use strict';
// What a stack has done so far, and what it did between two looks.
const path = require('node:path');
const { loadavg } = require('node:os');
const { databaseBytes } = require('./database-bytes.js');
const { cpuMs, residentBytes } = require('./process-usage.js');

/** Cheap, so that looking does not show in what is measured. */
async function checkWork({ folder, server, worker, sandbox }) {
  const { operations } = await sandbox.admin.counters({ prompts: false });
  return {
    at: Date.now(),
    creates: operations.create.accepted,
    polls: operations.poll.received,
    downloads: operations.content.accepted,
    cpu: { server: cpuMs(server.pid), worker: cpuMs(worker.pid), sandbox: cpuMs(sandbox.pid) },
    databaseBytes: await databaseBytes(path.join(folder, 'temporal.db')),
    workerBytes: residentBytes(worker.pid),
    load: loadavg()[0],
  };
}

/** Events and bytes of all runs of the workflows whose ids begin so. */
async function lookAtHistories(client, prefix, sandbox) {
  const { operations } = await sandbox.admin.counters({ prompts: false });
  const sum = { downloads: operations.content.accepted, runs: 0, events: 0, bytes: 0 };
  const runs = [];
  for await (const { workflowId, runId } of client.workflow.list())
    if (workflowId.startsWith(prefix)) runs.push({ workflowId, runId });
  for (let from = 0; from < runs.length; from += 8) {
    const some = runs
      .slice(from, from + 8)
      .map(({ workflowId, runId }) => described(client, workflowId, runId));
    for (const { historyLength, historySize } of await Promise.all(some)) {
      sum.runs += 1;
      sum.events += historyLength;
      sum.bytes += historySize ?? 0;
    }
  }
  return sum;
}

function described(client, workflowId, runId) {
  return client.workflow.getHandle(workflowId, runId).describe();
}

/** What happened between two looks. CPU in milliseconds, rates per second. */
function between(first, last) {
  const seconds = (last.at - first.at) / 1000;
  const of = (read) => read(last) - read(first);
  const cpu = { server: of((one) => one.cpu.server), worker: of((one) => one.cpu.worker) };
  const polls = of((one) => one.polls);
  const downloads = of((one) => one.downloads);
  return {
    seconds,
    pollsPerSecond: polls / seconds,
    createsPerSecond: of((one) => one.creates) / seconds,
    downloadsPerSecond: downloads / seconds,
    serverCores: cpu.server / seconds / 1000,
    workerCores: cpu.worker / seconds / 1000,
    sandboxCores: of((one) => one.cpu.sandbox) / seconds / 1000,
    serverMsPerPoll: polls === 0 ? null : cpu.server / polls,
    workerMsPerPoll: polls === 0 ? null : cpu.worker / polls,
    msPerVideo: downloads === 0 ? null : (cpu.server + cpu.worker) / downloads,
    databaseBytesPerHour: (of((one) => one.databaseBytes) / seconds) * 3600,
    workerBytes: last.workerBytes,
    load: last.load,
  };
}

module.exports = { between, lookAtHistories, checkWork };
