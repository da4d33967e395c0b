'use strict';
// Runs the download and the edit activity as a worker does, with its file store and journal, in a process whose memory
// is looked at from outside. Messages: {download: bytes} and {upload: file}.
const { MockActivityEnvironment } = require('@temporalio/testing');
const path = require('node:path');
const { performance } = require('node:perf_hooks');
const { accountRegistry } = require('../../lib/settings/accounts.js');
const { createMediaActivities } = require('../../lib/activities/create-media-activities.js');
const { FileArtifactStore } = require('../../lib/stores/artifacts/file-store.js');
const { ACTIVITY } = require('../../lib/domain/names.js');
const { videoTaskById } = require('../../lib/domain/video-task.js');
const { createFileJournal } = require('../../lib/stores/journal/file-journal.js');
const { createModelSource } = require('../../lib/settings/model-source.js');
const { accountName } = require('../../lib/service/endpoint.js');
const { createMediaClient } = require('../../lib/service/create-media-client.js');
const { answerParent } = require('../framework/answer-parent.js');

const { BENCH_URL: baseUrl, BENCH_FOLDER: folder } = process.env;

const client = createMediaClient({ baseUrl, apiKey: () => 'bench-key' });
const account = accountName('default', baseUrl);
const activities = createMediaActivities({
  accounts: accountRegistry([{ name: account, client, hasKey: async () => true }]),
  artifacts: new FileArtifactStore(path.join(folder, 'artifacts')),
  journal: createFileJournal({ root: path.join(folder, 'journal'), shared: false }),
  models: createModelSource(),
  inputRoots: [folder],
});

async function download(bytes) {
  const input = { video: videoTaskById(`size-${bytes}`, account) };
  const { ms, result } = await timed(ACTIVITY.downloadVideo, input);
  if (result.outcome !== 'downloaded') throw new Error(`The download came to ${result.outcome}.`);
  return { ms, sha256: result.artifact.sha256, bytes: result.artifact.bytes };
}

async function upload(file, creationKey) {
  const request = { model: 'image-2', prompt: 'brighter', images: [{ file }] };
  const { ms, result } = await timed(ACTIVITY.editImage, { request, creationKey });
  if (result.outcome !== 'completed') throw new Error(`The edit came to ${result.outcome}.`);
  return { ms, received: result.billing.usage.received_bytes };
}

async function timed(activity, input) {
  // Limits as the workflows set them: without them a try would have no time.
  const environment = new MockActivityEnvironment({
    startToCloseTimeoutMs: 45 * 60_000,
    scheduleToCloseTimeoutMs: 3 * 60 * 60_000,
    scheduledTimestampMs: Date.now(),
    attempt: 1,
  });
  const startedAt = performance.now();
  const result = await environment.run(activities[activity], input);
  return { ms: performance.now() - startedAt, result };
}

answerParent(({ download: bytes, upload: file, key }) =>
  bytes === undefined ? upload(file, key) : download(bytes),
);
