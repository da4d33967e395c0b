'use strict';
/* global AbortController, AbortSignal, clearInterval, setInterval */
const { ApplicationFailure, CancelledFailure } = require('@temporalio/common');
const { Context } = require('@temporalio/activity');

/**
 * Activities that return a case's answers, one per call, and repeat the last one indefinitely. Workflow code and a real
 * server still produce the history. Only what a service does not do on demand, or does only after minutes, is scripted.
 * An answer is a value, `fails`, `silent` (no heartbeat, so that the worker seems lost) or `hangs` (until it is
 * canceled).
 */
class ScriptedActivities {
  constructor() {
    this.scripts = new Map();
    this.calls = new Map();
    this.release = new AbortController();
  }

  /** `answers`: activity type → list of answers. `name` is the case's creation key and task id. */
  add(name, answers) {
    this.scripts.set(name, answers);
  }

  /** Ends everything that hangs, so that a worker can stop. */
  close() {
    this.release.abort();
  }

  registered() {
    const by = (type, nameOf) => [type, (input) => this.answer(type, nameOf(input), input)];
    return Object.fromEntries([
      by('media.createVideo', (input) => input.creationKey),
      by('media.reconcileCreate', (input) => input.creationKey),
      by('media.findVideoTask', (input) => input.taskId),
      by('media.pollVideos', (input) => input.byModel[0].ids[0]),
      by('media.watchVideo', (input) => input.state.video.taskId),
      by('media.downloadVideo', (input) => input.video.taskId),
      by('media.generateImage', (input) => input.creationKey),
      by('media.editImage', (input) => input.creationKey),
      by('media.resolveUnconfirmed', (input) => input.creationKey),
      by('media.reviewJournal', (input) => input.creationKey),
    ]);
  }

  async answer(type, name, input) {
    const answers = this.scripts.get(name)?.[type];
    if (answers === undefined) throw ApplicationFailure.nonRetryable(`No script for ${type} in ${name}`);
    const count = this.calls.get(`${type} ${name}`) ?? 0;
    this.calls.set(`${type} ${name}`, count + 1);
    const answer = answers[Math.min(count, answers.length - 1)];
    return typeof answer === 'function' ? answer(this, input) : answer;
  }

  /** Returns the answer for the next send of its key. */
  inItsSend(answer, { creationKey }) {
    const sendAttempt = this.calls.get(`sends ${creationKey}`) ?? 0;
    if (answer.sent) this.calls.set(`sends ${creationKey}`, sendAttempt + 1);
    return { ...answer, sendAttempt };
  }

  /** Waits until the activity is canceled or the recording ends, with or without heartbeats. */
  async wait({ heartbeats, limitMs = 3_600_000 }) {
    const { cancellationSignal, heartbeat } = heartbeats ? Context.current() : {};
    const beat = heartbeats ? setInterval(() => heartbeat(), 500) : undefined;
    const signals = [this.release.signal, AbortSignal.timeout(limitMs)];
    const end = AbortSignal.any(cancellationSignal ? [...signals, cancellationSignal] : signals);
    await new Promise((resolve) => (end.aborted ? resolve() : end.addEventListener('abort', resolve)));
    clearInterval(beat);
    if (cancellationSignal?.aborted) throw new CancelledFailure('cancelled');
  }
}

const fails = () => {
  throw ApplicationFailure.nonRetryable('scripted', 'Scripted');
};
const silent = (activities) => activities.wait({ heartbeats: false });
const hangs = (activities) => activities.wait({ heartbeats: true });
/** Answers after a delay, so that something else can happen first. */
const after = (limitMs, value) => async (activities, input) => {
  await activities.wait({ heartbeats: true, limitMs });
  return typeof value === 'function' ? value(activities, input) : value;
};

module.exports = { ScriptedActivities, fails, silent, hangs, after };
