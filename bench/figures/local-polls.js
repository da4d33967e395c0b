'use strict';
// Own polling as it is, a timer and an activity for each poll, compared with a timer and a local activity.
const { measureEmpty } = require('../framework/empty-flow.js');
const { round } = require('../framework/statistics.js');

const title = 'a workflow that polls ten times: by activities, and by local activities';
const TYPES = { activities: 'tenPollsByActivity', 'local activities': 'tenPollsByLocalActivity' };
const POLLS = 10;
/** Workflows started per second. Each polls once a second. */
const RATE = 2;
const ROUNDS = 2;

async function run(context) {
  const { quick } = context;
  const measured = [];
  // In turns, so that a disturbance of the machine hits both.
  for (let turn = 0; turn < (quick ? 1 : ROUNDS); turn += 1)
    for (const [name, type] of Object.entries(TYPES))
      measured.push({
        name,
        ...(await measureEmpty(context, { rate: RATE, windowMs: quick ? 5_000 : 20_000, type })),
      });
  return {
    server: measured[0].server,
    values: measured,
    table: {
      columns: ['polls by', 'events per poll', 'ms per poll, server + worker'],
      rows: Object.keys(TYPES).map((name) => {
        const own = measured.filter((one) => one.name === name);
        const ms = own.reduce((sum, { msPerVideo }) => sum + msPerVideo, 0) / own.length / POLLS;
        // A workflow has five other events.
        return [name, round((own[0].events - 5) / POLLS), round(ms)];
      }),
    },
    goals: [],
    notes: [
      'Nothing is polled: activities are empty, so this is what Temporal takes. Each workflow also has its start and its end.',
      'ADR 33 says why polls are not local activities.',
    ],
  };
}

module.exports = { title, run };
