'use strict';
// The table of flows that are compared.
const { goal } = require('./goal.js');
const { round } = require('./statistics.js');

const MIB = 2 ** 20;
const or = (value, digits = 1) => (value === null || value === undefined ? '–' : round(value, digits));
const inSeconds = (ms) => (ms === null || ms === undefined ? '–' : (ms / 1000).toFixed(2));

const BARE_NOTE =
  'Bare requests are the minimum: the same rate of creates, polls and downloads with undici alone and two durable records per create, without Temporal or checks.';

function flowTable(measured) {
  return {
    columns: [
      'design',
      'in flight (reached)',
      'polls/s (of target)',
      'gap p50 / p95 / max, s',
      'created / downloaded per s',
      'server + worker + sandbox, cores',
      'ms per poll, server + worker',
      'ms per video, server + worker',
      'ms per video, bare requests',
      'events, KiB of history per video',
      'database, MiB/h',
      'worker, MiB',
      'load',
    ],
    rows: measured.map((one) => [
      one.design,
      `${one.inFlight} (${one.reached})`,
      `${round(one.pollsPerSecond)} of ${round(one.reached / 4)}`,
      `${inSeconds(one.gaps.p50)} / ${inSeconds(one.gaps.p95)} / ${inSeconds(one.gaps.max)}`,
      `${round(one.createsPerSecond)} / ${round(one.downloadsPerSecond)}`,
      `${round(one.serverCores, 2)} + ${round(one.workerCores, 2)} + ${round(one.sandboxCores, 2)}`,
      `${or(one.serverMsPerPoll, 2)} + ${or(one.workerMsPerPoll, 2)}`,
      or(one.msPerVideo, 1),
      or(one.bare?.msPerVideo, 1),
      `${or(one.eventsPerVideo, 1)}, ${or(one.historyBytesPerVideo === null ? null : one.historyBytesPerVideo / 1024, 1)}`,
      round(one.databaseBytesPerHour / MIB, 0),
      round(one.peakBytes / MIB, 0),
      round(one.load, 1),
    ]),
  };
}

/** The goal for how much more than its bare requests a flow may cost; none if no video ended. */
function bareGoals(name, { msPerVideo, bare }) {
  return bare === undefined ? [] : [goal(name, round(msPerVideo / bare.msPerVideo, 2), '<=', 2, '')];
}

module.exports = { BARE_NOTE, bareGoals, flowTable, inSeconds, or };
