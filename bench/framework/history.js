'use strict';
// Times of a workflow's history, in milliseconds with fractions: the server's own clock, which is this machine's.

const timeMs = (time) => Number(time.seconds) * 1000 + (time.nanos ?? 0) / 1e6;

/** The last activity of a type: when it was scheduled, started and completed. */
function activityTimes(history, type) {
  const events = history.events ?? [];
  const scheduled = events.filter(
    ({ activityTaskScheduledEventAttributes: one }) => one?.activityType?.name === type,
  );
  const last = scheduled[scheduled.length - 1];
  if (last === undefined) return undefined;
  const of = (attributes) =>
    events.find((event) => event[attributes]?.scheduledEventId?.equals(last.eventId))?.eventTime;
  const [started, completed] = [
    of('activityTaskStartedEventAttributes'),
    of('activityTaskCompletedEventAttributes'),
  ];
  return {
    scheduled: timeMs(last.eventTime),
    ...(started ? { started: timeMs(started) } : {}),
    ...(completed ? { completed: timeMs(completed) } : {}),
  };
}

module.exports = { activityTimes, timeMs };
