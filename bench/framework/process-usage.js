'use strict';
// CPU and memory of another process, measured from outside (Linux).
const { readFileSync } = require('node:fs');
const { clearInterval, setInterval } = require('node:timers');

/** Linux counts in ticks of 10 ms wherever Node runs. */
const TICK_MS = 10;

/** User and system time so far, in milliseconds. */
function cpuMs(pid) {
  const [user, system] = timesOf(pid);
  return user + system;
}

/** The same with the children of the process, those that have ended included. A grandchild counts once its parent has ended. */
function cpuOfFamilyMs(pid) {
  const own = timesOf(pid).reduce((sum, time) => sum + time, 0);
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  return children.reduce((sum, child) => sum + cpuMs(child), own);
}

/** Of the process, user and system, and of its ended children, user and system; in milliseconds. */
function timesOf(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in brackets may hold blanks: fields are counted behind it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).map((ticks) => Number(ticks) * TICK_MS);
}

/** Resident memory, in bytes. */
function residentBytes(pid) {
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes ?? 0) * 1024;
}

/** Looks at the memory of a process every `everyMs`; `stop` says the highest value seen. */
function watchMemory(pid, everyMs = 20) {
  let peak = residentBytes(pid);
  const look = () => {
    try {
      peak = Math.max(peak, residentBytes(pid));
    } catch {
      // It has ended.
    }
    return peak;
  };
  const timer = setInterval(look, everyMs);
  return {
    stop: () => {
      clearInterval(timer);
      return look();
    },
  };
}

module.exports = { cpuMs, cpuOfFamilyMs, residentBytes, watchMemory };
