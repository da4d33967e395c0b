'use strict';
// Builds activity results for scripted cases. `name` is the case, its creation key and its task id.

const POLLING = { minSeconds: 3, maxSeconds: 4, firstPollSeconds: 1 };
const ACCOUNT = 'default@00000000';
const ESTIMATE = { microUnits: 100_000, currency: 'USD' };
const SHA256 = '0123456789abcdef'.repeat(4);

const video = (name, polling = POLLING) => ({
  taskId: name,
  model: 'cine-1',
  durationSeconds: 2,
  resolution: '480p',
  referenceMode: 'none',
  account: ACCOUNT,
  polling,
  createdAt: '2026-01-01T00:00:00.000Z',
  source: 'create_reply',
});

const paid = { sendAttempt: 0, sent: true, account: ACCOUNT, estimate: ESTIMATE };

const created = (name, more = {}) => ({
  ...paid,
  outcome: 'created',
  video: video(name),
  status: 'queued',
  warnings: [],
  ...more,
});

/** Adds which send of its key an answer is about, as the real activity does. */
const inItsSend = (answer) => (activities, input) => activities.inItsSend(answer, input);

const refusedForNow = (notBeforeMs) => (activities, input) =>
  activities.inItsSend(refused(notBeforeMs), input);

const refused = (notBeforeMs) => ({
  ...paid,
  outcome: 'refused_for_now',
  httpStatus: 429,
  error: { kind: 'capacity', code: 'rate_limited', message: 'too many requests' },
  notBefore: notBeforeMs === null ? null : new Date(Date.now() + notBeforeMs).toISOString(),
});

const notSent = (more) =>
  inItsSend({
    ...paid,
    sent: false,
    outcome: 'not_sent',
    cause: 'configuration_unavailable',
    sendAttemptUsed: false,
    permanent: false,
    message: 'The model configuration cannot be read.',
    ...more,
  });

const evidence = (cause) => ({
  cause,
  intentAt: '2026-01-01T00:00:00.000Z',
  sendWindowEnd: '2026-01-01T00:01:10.000Z',
  bodyHash: SHA256,
  httpStatus: null,
  headers: {},
  kind: null,
  code: null,
  replyHash: null,
  model: 'cine-1',
  durationSeconds: 2,
  resolution: '480p',
  referenceMode: 'none',
  account: ACCOUNT,
});

const unconfirmed = (cause) => ({ ...paid, outcome: 'unconfirmed', evidence: evidence(cause) });

const record = (status, phase, more = {}) => ({
  answers: [
    { index: 0, digest: `${status}-${JSON.stringify(more).length}`, record: { status, phase, ...more } },
  ],
});
const running = record('in_progress', 'in_progress');
const completedRecord = record('completed', 'completed', { usage: { duration_seconds: 2 } });
const unchanged = { answers: [] };
const pollError = (error, more = {}) => ({ answers: [{ index: 0, error, ...more }] });

const artifact = (mediaType = 'video/mp4') => ({
  uri: `artifact:sha256/${SHA256}`,
  mediaType,
  bytes: 4096,
  sha256: SHA256,
});
const downloaded = { outcome: 'downloaded', artifact: artifact(), sidecar: null, reported: {}, warnings: [] };
const unavailable = (reason) => ({
  outcome: 'content_unavailable',
  reason,
  message: 'The content is not to be had.',
  tries: 20,
  rejected: null,
  httpStatus: 404,
});

module.exports = {
  ACCOUNT,
  POLLING,
  SHA256,
  artifact,
  completedRecord,
  created,
  downloaded,
  evidence,
  inItsSend,
  notSent,
  pollError,
  record,
  refusedForNow,
  running,
  unavailable,
  unchanged,
  unconfirmed,
  video,
};
