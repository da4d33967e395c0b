'use strict';
// The least that a workflow can do about an image: what is measured beside it is the price of Temporal itself.
const { proxyActivities, proxyLocalActivities, sleep } = require('@temporalio/workflow');

const { bareImage, nothing } = proxyActivities({ startToCloseTimeout: '60s' });

module.exports.bareImageWorkflow = async () => bareImage();

/** As many activities as a video with shared polling has: nothing that is paid or asked, so this is Temporal alone. */
module.exports.twoEmptyActivities = async () => {
  await nothing();
  await nothing();
};

// Polls run on a task queue of their own, so they are never dispatched eagerly.
const byActivity = proxyActivities({ startToCloseTimeout: '60s', allowEagerDispatch: false }).nothing;
const byLocalActivity = proxyLocalActivities({ startToCloseTimeout: '60s' }).nothing;

async function tenPolls(poll) {
  for (let n = 0; n < 10; n += 1) {
    await sleep(1_000);
    await poll();
  }
}

/** A timer and an activity for each poll, as own polling has. */
module.exports.tenPollsByActivity = async () => tenPolls(byActivity);

/** The same with local activities, which run inside of workflow tasks. */
module.exports.tenPollsByLocalActivity = async () => tenPolls(byLocalActivity);
