'use strict';
// The requests of a flow of videos by undici alone, in a process of their own: creates on fresh connections, polls on
// kept ones, downloads to a file that is on the disk, and one durable record before and one after each create. No
// Temporal, no check of what comes, no campaign: what is above this is what can be saved.
const { randomUUID } = require('node:crypto');
const { mkdir, open, rename } = require('node:fs/promises');
const path = require('node:path');
const { setInterval, clearInterval } = require('node:timers');
const { setTimeout } = require('node:timers/promises');
const { Client, Pool } = require('undici');
const { answerParent } = require('../framework/answer-parent.js');
const { MODEL, promptOf } = require('../framework/campaign-rows.js');
const { writeDurably } = require('../framework/write-durably.js');

const { BENCH_URL: origin, BENCH_KEY: key, BENCH_FOLDER: folder } = process.env;
const HEADERS = { authorization: `Bearer ${key}` };
const JSON_HEADERS = { ...HEADERS, 'content-type': 'application/json' };
const WARM_UP_MS = 3_000;
/** As many sockets as the package opens by default. */
const polling = new Pool(origin, { connections: 64 });
const loading = new Pool(origin, { connections: 32 });

async function create(runSeconds, n) {
  await writeDurably(path.join(folder, 'records', randomUUID()), '{"kind":"intent"}');
  const client = new Client(origin);
  try {
    const { statusCode, body } = await client.request({
      method: 'POST',
      path: '/v1/videos',
      headers: JSON_HEADERS,
      body: JSON.stringify({
        model: MODEL,
        prompt: promptOf(n, runSeconds),
        duration: 3,
        resolution: '480p',
      }),
    });
    const { id } = await body.json();
    if (typeof id !== 'string') throw new Error(`A bare create came to ${statusCode}.`);
    await writeDurably(path.join(folder, 'records', randomUUID()), JSON.stringify({ kind: 'accepted', id }));
    return id;
  } finally {
    await client.close();
  }
}

async function poll(id) {
  const { statusCode, body } = await polling.request({
    method: 'GET',
    path: `/v1/videos/${id}`,
    headers: HEADERS,
  });
  const { status } = await body.json();
  if (statusCode !== 200) throw new Error(`A bare poll came to ${statusCode}.`);
  return status;
}

async function download(id, n) {
  const { statusCode, body } = await loading.request({
    method: 'GET',
    path: `/v1/videos/${id}/content`,
    headers: HEADERS,
  });
  if (statusCode !== 200) throw new Error(`A bare download came to ${statusCode}.`);
  const file = path.join(folder, 'videos', `${n}.mp4`);
  const handle = await open(`${file}.part`, 'w');
  try {
    for await (const chunk of body) await handle.write(chunk);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(`${file}.part`, file);
}

/** Calls `work(n)` at a steady rate for a while; says how often. */
function paced(perSecond, forMs, work) {
  const startedAt = Date.now();
  const open = new Set();
  let n = 0;
  return new Promise((resolve, reject) => {
    const timer = setInterval(() => {
      const elapsed = Math.min(forMs, Date.now() - startedAt);
      for (const due = (elapsed / 1000) * perSecond; n < due; n += 1) {
        const one = work(n)
          .catch((error) => {
            clearInterval(timer);
            reject(error);
          })
          .finally(() => open.delete(one));
        open.add(one);
      }
      if (elapsed < forMs) return;
      clearInterval(timer);
      void Promise.all(open).then(() => resolve(n));
    }, 10);
  });
}

/** `videosPerSecond` creates and as many downloads, beside `pollsPerSecond` polls of tasks that run. */
async function flow({ videosPerSecond, pollsPerSecond, forMs }) {
  await mkdir(path.join(folder, 'records'), { recursive: true });
  await mkdir(path.join(folder, 'videos'), { recursive: true });
  const ready = await Promise.all(Array.from({ length: 20 }, (_, n) => create(0, n)));
  const running = await Promise.all(Array.from({ length: 100 }, (_, n) => create(3_600, n)));
  for (const id of ready) while ((await poll(id)) !== 'completed') await setTimeout(200);
  let made = 0;
  const during = (ms) =>
    Promise.all([
      paced(videosPerSecond, ms, (n) => create(3_600, n)),
      paced(videosPerSecond, ms, (n) => download(ready[n % ready.length], made++)),
      paced(pollsPerSecond, ms, (n) => poll(running[n % running.length])),
    ]);
  // Code that was just loaded is slow.
  await during(Math.min(WARM_UP_MS, forMs));
  const before = process.cpuUsage();
  const [videos, , polls] = await during(forMs);
  const { user, system } = process.cpuUsage(before);
  return { videos, polls, cpuMs: (user + system) / 1000 };
}

answerParent(flow);
