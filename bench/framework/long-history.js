'use strict';
// A history of a video that is polled for 15 minutes, made of a recorded one: its poll is repeated, with times, event ids
// and numbers of timers and activities that go on. It replays like the one that it is made of.
const { readFileSync } = require('node:fs');
const path = require('node:path');

const RECORDED = path.resolve(__dirname, '../../test/golden/generateVideo.completed-unchanged-ticks.v1.json');
/** Places of the recorded events: from the timer of the second poll to the workflow task after it, and the last poll. */
const [CYCLE, END, DONE, REST] = [23, 34, 52, 56];
/** Milliseconds between two polls: more than the longest of their intervals. */
const EVERY_MS = 3_950;

const ID_FIELDS = ['scheduledEventId', 'startedEventId', 'workflowTaskCompletedEventId'];

/** @returns the history as JSON @param polls at least 3 @param workflowId its id, of which there may be thousands */
function longHistory(polls, workflowId) {
  const { events } = JSON.parse(readFileSync(RECORDED, 'utf8'));
  const long = events.slice(0, CYCLE);
  for (let n = 0; n < polls - 1; n += 1)
    for (const event of events.slice(CYCLE, END)) long.push(moved(event, (END - CYCLE) * n, EVERY_MS * n, n));
  // The last poll finds the video completed.
  const answered = attributesOf(long.at(-4));
  answered.result = attributesOf(events[DONE]).result;
  const last = long.at(-1);
  const ids = Number(last.eventId) - REST;
  const ms = Date.parse(last.eventTime) - Date.parse(events[REST - 1].eventTime);
  for (const event of events.slice(REST)) long.push(moved(event, ids, ms, polls - 4));
  attributesOf(long[0]).workflowId = workflowId;
  return { events: long };
}

const attributesOf = (event) => event[Object.keys(event).find((name) => name.endsWith('EventAttributes'))];

function moved(event, ids, ms, numbers) {
  const copy = structuredClone(event);
  const attributes = attributesOf(copy);
  copy.eventId = String(Number(copy.eventId) + ids);
  copy.eventTime = new Date(Date.parse(copy.eventTime) + ms).toISOString();
  for (const field of ID_FIELDS)
    if (attributes[field] !== undefined) attributes[field] = String(Number(attributes[field]) + ids);
  for (const field of ['timerId', 'activityId'])
    if (attributes[field] !== undefined) attributes[field] = String(Number(attributes[field]) + numbers);
  return copy;
}

module.exports = { longHistory };
