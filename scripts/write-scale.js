'use strict';
// Writes docs/scale.md: what 100,000 videos a day cost, computed from what `npm run bench` measured (bench/results).
// `--check` only compares.
const fs = require('node:fs');
const path = require('node:path');
const { formatText } = require('./format-text.js');
const { markdownTable } = require('../bench/framework/result-text.js');

const ROOT = path.resolve(__dirname, '..');
const PAGE = path.join(ROOT, 'docs', 'scale.md');
const valuesOf = (name) =>
  JSON.parse(fs.readFileSync(path.join(ROOT, 'bench', 'results', `${name}.json`), 'utf8')).values;

/** A video that takes two minutes and is polled every four seconds. */
const POLLS = 30;
const SECONDS = 120;
const DAY = 86_400;
/** How much busier the busiest hour is than the average. */
const PEAK = 5;
/** Videos a day. Everything on the page is proportional to them. */
const VIDEOS = 100_000;
const PER_SECOND = VIDEOS / DAY;

/** One poll tick, as test/budgets/events.test.ts asserts: a timer and an activity. */
const EVENTS_OF_TICK = 11;
const ACTIONS_OF_TICK = 2;
/** A single video without its ticks: start, create with its limit, download. The same test asserts the events. */
const ACTIONS_OF_VIDEO = 5;
const EVENTS_OF_VIDEO = 25;

/** Returns one video's CPU milliseconds, events, actions and bytes. */
function costs() {
  const single = valuesOf('detection-lag').cost;
  const growth = valuesOf('growth').find(({ name }) => name === '1,000 videos, a workflow each');
  const flow = valuesOf('campaign-scale').find(({ inFlight }) => inFlight === 10_000);
  const rows = valuesOf('campaign-rows').find((one) => one.rows === 10_000);
  const bytesOfPoll = growth.databaseBytesPerHour / 3600 / growth.pollsPerSecond;
  const bytesOfCampaignPoll = flow.databaseBytesPerHour / 3600 / flow.pollsPerSecond;
  const morePolls = POLLS - rows.polls;
  return {
    single: {
      serverMs: single.serverMsPerPoll * POLLS,
      workerMs: single.workerMsPerPoll * POLLS,
      events: EVENTS_OF_TICK * POLLS + EVENTS_OF_VIDEO,
      actions: ACTIONS_OF_TICK * POLLS + ACTIONS_OF_VIDEO,
      databaseBytes: bytesOfPoll * POLLS,
    },
    campaign: {
      serverMs: rows.serverMs + flow.serverMsPerPoll * morePolls,
      workerMs: rows.workerMs + flow.workerMsPerPoll * morePolls,
      events: flow.eventsPerVideo,
      actions: (flow.eventsPerVideo * ACTIONS_OF_TICK) / EVENTS_OF_TICK,
      databaseBytes: rows.databaseBytes + bytesOfCampaignPoll * morePolls,
    },
    memoryMiB: flow.peakBytes / 2 ** 20,
    videosPerSecond: Math.max(...valuesOf('campaign-throughput').map((one) => one.downloadsPerSecond)),
  };
}

const number = (value, digits = 0) =>
  value.toLocaleString('en-US', { maximumFractionDigits: digits, minimumFractionDigits: 0 });
const significant = (value) =>
  Number(value.toPrecision(2)).toLocaleString('en-US', { maximumFractionDigits: 3 });

const busiest = (perVideo) => significant(PER_SECOND * PEAK * perVideo);
const inFlight = Math.ceil(PER_SECOND * SECONDS * PEAK);

const temporal = ({ single, campaign }) =>
  [
    ['single videos', single],
    ['campaign videos', campaign],
  ].map(([how, cost]) => [
    how,
    significant(VIDEOS * cost.actions),
    significant(VIDEOS * cost.events),
    busiest(cost.serverMs / 1000),
    busiest(cost.workerMs / 1000),
    `${significant((VIDEOS * cost.databaseBytes) / 2 ** 30)} GiB`,
  ]);

function stores(hosts) {
  // Only runs that created videos in their window.
  const shared = hosts.filter((one) => one.hosts > 0 && one.createsPerSecond >= 1);
  if (shared.length === 0) return undefined;
  const most = (name) => Math.max(...shared.map((one) => one[name]));
  return { requests: most('bucketRequestsPerVideo'), statements: most('statementsPerVideo') };
}

function page() {
  const cost = costs();
  const hosts = valuesOf('many-hosts');
  const { files, s3, postgres } = valuesOf('journal');
  const bucket = stores(hosts);
  const ms = (value) => number(value, 1);
  const text = `# Scale

\`node scripts/write-scale.js\` computes every number on this page from the [benchmarks](measured.md) on one machine with two cores and the
embedded server. With PostgreSQL persistence the server needs 1.6 to 2.9 times as much.

## Demand

Each video takes ${SECONDS} seconds and is polled every 4 seconds, ${POLLS} times. Polls cause nearly all of the cost, so halving the video time or
doubling the interval halves the cost.

${number(VIDEOS)} videos a day are ${significant(PER_SECOND)} creates a second on average. The busiest hour has ${PEAK} times that load: ${busiest(1)} creates and ${number(Math.ceil(inFlight / 4))} polls a
second, with ${number(inFlight)} videos in flight. The totals below are proportional to this demand; cores are for the busiest hour.

## Temporal and workers

A single video (a workflow) takes ${number(cost.single.actions)} actions, ${ms(cost.single.serverMs)} ms of server time and ${ms(cost.single.workerMs)} ms of worker time
(\`detection-lag\`, \`growth\`). A [campaign's](campaigns.md) video takes ${number(cost.campaign.actions, 2)} actions,
${ms(cost.campaign.serverMs)} ms of server time and ${ms(cost.campaign.workerMs)} ms of worker time (\`campaign-scale\`, \`campaign-rows\`).

${markdownTable([
  [
    `${number(VIDEOS)} a day`,
    'actions a day',
    'events a day',
    'server, cores',
    'workers, cores',
    'database, a day',
  ],
  ...temporal(cost),
]).join('\n')}

A worker with 10,000 campaign videos in flight needs ${number(cost.memoryMiB)} MiB of memory.
[Operations](operations.md#sockets-for-polls) has the formula for poll sockets.

## Journal and artifacts

Storing a create's intent and answer, with one caller on the same machine, takes a median of ${ms(files.journalMs.p50)} ms in files${s3 === undefined ? '' : `, ${ms(s3.journalMs.p50)} ms in a bucket`}${postgres === undefined ? '' : `, ${ms(postgres.journalMs.p50)} ms in PostgreSQL`} (\`journal\`). Add your network latency.
${
  bucket === undefined
    ? ''
    : `
With the journal in PostgreSQL and artifacts in a bucket, a campaign video takes up to ${number(bucket.requests, 1)} requests to the bucket and ${number(bucket.statements, 1)} SQL
statements (\`many-hosts\`, the maximum of its runs). In the busiest hour, that is ${busiest(bucket.requests)} requests and ${busiest(bucket.statements)} statements a second. The
journal stores 6 records per video, about 6 KB, and the bucket stores your videos.
`
}
## Which limit is reached first

- **10,000 videos a day**: none. One worker and the embedded server are mostly idle.
- **100,000 videos a day**: single videos saturate the embedded server (one process, one disk) in the busiest hour. Use campaigns, or a
  server with its own database.
- **1,000,000 videos a day**: single videos saturate the server's cores and its database, and campaigns saturate one worker
  (${number(cost.videosPerSecond)} videos a second on these two cores, \`campaign-throughput\`). Use campaigns, and more workers in
  [pools](operations.md#pools-of-workers) for creates, polls and downloads.

Beyond that, the service's own rate limits you (\`MEDIA_CREATES_PER_SECOND\`).
`;
  return formatText(PAGE, text);
}

function main(check) {
  const text = page();
  if (!check) return fs.writeFileSync(PAGE, text);
  if (fs.readFileSync(PAGE, 'utf8') === text) return;
  console.error('docs/scale.md does not match bench/results. Run node scripts/write-scale.js');
  process.exitCode = 1;
}

main(process.argv.includes('--check'));
