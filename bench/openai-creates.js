'use strict';
// One `videos.create` of the official `openai` client against a sandbox in `compat` mode whose replies get lost:
// how many creates did the server accept? Nothing of this package takes part but the sandbox.
const { clearTimeout, setTimeout } = require('node:timers');
const OpenAI = require('openai');
const { faultRule } = require('./wire-faults.js');

async function openaiCreates({ url, admin, apiKey = 'sandbox-key' }, fault, options = {}) {
  const { times = 0, maxRetries, timeoutMs = 2_000, giveUpMs = 20_000 } = options;
  await admin.reset();
  await admin.addFaults([faultRule(fault, times)]);
  // Every other option is the client's own default.
  const given = maxRetries === undefined ? {} : { maxRetries };
  const client = new OpenAI({ apiKey, baseURL: `${url}/v1`, timeout: timeoutMs, logLevel: 'off', ...given });
  const deadline = new globalThis.AbortController();
  const timer = setTimeout(() => deadline.abort(), giveUpMs);
  const call = client.videos.create(
    { model: 'cine-1', prompt: 'a cat on a roof', seconds: '4' },
    { signal: deadline.signal },
  );
  const end = await call.then(
    ({ id }) => ({ outcome: 'returned', taskId: id }),
    (error) => ({ outcome: deadline.signal.aborted ? 'hung' : 'threw', error: error.constructor.name }),
  );
  clearTimeout(timer);
  await admin.releaseStalled();
  const { creates } = await admin.counters();
  const requests = await admin.requests({ operation: 'create' });
  const keys = requests.filter(({ headerNames }) => headerNames.some((name) => /idempoten/i.test(name)));
  return { fault, sent: creates.received, accepted: creates.accepted, withKey: keys.length, ...end };
}

module.exports = { openaiCreates };
