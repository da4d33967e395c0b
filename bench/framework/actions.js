'use strict';
// What Temporal bills, counted in histories: starts, signals, timers, activities and each try of one.
const { timeMs } = require('./history.js');

const COUNTED = [
  'workflowExecutionStartedEventAttributes',
  'workflowExecutionSignaledEventAttributes',
  'workflowExecutionContinuedAsNewEventAttributes',
  'timerStartedEventAttributes',
  'activityTaskScheduledEventAttributes',
  'startChildWorkflowExecutionInitiatedEventAttributes',
];

/** Actions of these events; those outside of `from` to `to`, in milliseconds, do not count. */
function actionsOf(events, from = 0, to = Infinity) {
  let actions = 0;
  for (const event of events) {
    const at = timeMs(event.eventTime);
    if (at < from || at >= to) continue;
    if (COUNTED.some((name) => event[name] != null)) actions += 1;
    // The first try is in the scheduled event.
    actions += Math.max(0, (event.activityTaskStartedEventAttributes?.attempt ?? 1) - 1);
  }
  return actions;
}

/** Actions and events of all runs of a workflow type between two times. */
async function workBetween(client, workflowType, from, to) {
  const runs = [];
  for await (const { workflowId, runId } of client.workflow.list({
    query: `WorkflowType = "${workflowType}"`,
  }))
    runs.push({ workflowId, runId });
  let [actions, events] = [0, 0];
  for (const { workflowId, runId } of runs) {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const all = history.events ?? [];
    actions += actionsOf(all, from, to);
    events += all.filter(({ eventTime }) => timeMs(eventTime) >= from && timeMs(eventTime) < to).length;
  }
  return { runs: runs.length, actions, events };
}

module.exports = { actionsOf, workBetween };
