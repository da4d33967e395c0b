'use strict';
/* global setInterval, clearInterval, URL, AbortController */
// One call of the built client in a process of its own, first against small answers, then against large ones: prints by
// how many bytes the process grew. Arguments: the case, the address of the server, a folder.
const path = require('node:path');

const [, , name, origin, folder] = process.argv;
const lib = (file) => require(path.resolve(__dirname, '..', '..', '..', 'lib', file));
const ACCOUNT = 'default@00000000';

function clientOf(baseUrl) {
  const { createMediaClient } = lib('service/create-media-client.js');
  const { environmentConnections } = lib('service/connections.js');
  return createMediaClient({
    baseUrl,
    apiKey: () => 'key-1234567890',
    connectionFactory: environmentConnections({}),
    timeouts: { paidHttpMs: 300_000, pollBodyMs: 300_000 },
  });
}

function paidBody() {
  const text = JSON.stringify({ model: 'm', prompt: 'p' });
  return { kind: 'json', json: JSON.parse(text), text, bodyHash: '0'.repeat(64) };
}

const paid = (method) => async (client) => {
  const { resolveCreatePolicy } = lib('domain/create-policy.js');
  const result = await client[method](paidBody(), { policy: resolveCreatePolicy() });
  return result.class === 'unconfirmed' ? `unconfirmed: ${result.cause}` : result.class;
};

async function record(client) {
  const result = await client.getVideo('t1');
  return result.kind === 'record' ? 'record' : `error: ${result.error}`;
}

/** The result of an image call by its address, as the activity fetches, checks and stores it. */
async function image(client) {
  const { storeImages } = lib('activities/image-results.js');
  const { FileArtifactStore } = lib('stores/artifacts/file-store.js');
  const reply = {
    class: 'accepted',
    created: null,
    items: [{ kind: 'url', url: `${client.baseUrl}/generated/a.png` }],
  };
  const kept = await storeImages(reply, {
    base: {},
    client,
    artifacts: new FileArtifactStore(folder),
    requested: 1,
    warnings: [],
    deadlineAt: performance.now() + 60_000,
    journal: lib('domain/journal.js').NO_JOURNAL,
  });
  return kept.outcome === 'completed' ? 'completed' : `results_lost: ${kept.reason}`;
}

/** The same without the tries that follow: one address that never ends. */
async function fetched(client) {
  const { readBounded } = lib('activities/sources.js');
  const { MAX_IMAGE_BYTES } = lib('activities/image-results.js');
  const result = await client.fetchContent({ url: new URL(`${client.baseUrl}/generated/a.png`) });
  const bytes = await readBounded(result.body, MAX_IMAGE_BYTES, new AbortController().signal);
  return bytes === undefined ? 'given up' : `${bytes.length} bytes`;
}

async function refusal(client) {
  const result = await client.fetchContent({ url: client.contentUrl('t1') });
  return result.kind === 'refused' ? `refused: ${result.status}` : result.kind;
}

async function models(client) {
  const { createModelSource } = lib('settings/model-source.js');
  const { locationReader } = lib('settings/model-source.js');
  const location = `${client.baseUrl}/models.json`;
  const found = await createModelSource({ location, read: locationReader({}), timeoutMs: 300_000 }).lookup(
    'm',
  );
  return found.found;
}

/** The real download activity with a real file store. */
async function video(client) {
  const { MockActivityEnvironment } = require('@temporalio/testing');
  const { createDownloadVideo } = lib('activities/download-video.js');
  const { FileArtifactStore } = lib('stores/artifacts/file-store.js');
  const { videoTaskById } = lib('domain/video-task.js');
  const activity = createDownloadVideo({
    accounts: () => client,
    artifacts: new FileArtifactStore(folder),
  });
  const environment = new MockActivityEnvironment({
    attempt: 1,
    activityId: `download-${client.baseUrl}`,
    heartbeatTimeoutMs: 30_000,
    scheduledTimestampMs: Date.now(),
    startToCloseTimeoutMs: 2_700_000,
    scheduleToCloseTimeoutMs: 0,
  });
  const { outcome, artifact } = await environment.run(activity, { video: videoTaskById('t1', ACCOUNT) });
  return `${outcome}: ${artifact?.bytes}`;
}

const CALLS = {
  create: paid('createVideo'),
  images: paid('generateImage'),
  record,
  image,
  fetched,
  refusal,
  models,
  video,
};

async function main() {
  const call = CALLS[name.split('-')[0]];
  const small = clientOf(`${origin}/${name}/small`);
  for (let times = 0; times < 3; times += 1) await call(small);
  globalThis.gc();
  const before = process.memoryUsage.rss();
  const highest = process.resourceUsage().maxRSS * 1024;
  let peak = before;
  const sample = () => (peak = Math.max(peak, process.memoryUsage.rss()));
  const timer = setInterval(sample, 5);
  const large = clientOf(`${origin}/${name}/large`);
  const result = await call(large);
  sample();
  clearInterval(timer);
  // What the system saw between two looks of ours.
  const top = process.resourceUsage().maxRSS * 1024;
  if (top > highest) peak = Math.max(peak, top);
  await small.close();
  await large.close();
  process.stdout.write(JSON.stringify({ result, growth: peak - before }));
  process.exit(0);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
