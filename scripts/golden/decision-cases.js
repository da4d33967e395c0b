'use strict';
// Cases of unconfirmed creates that a person or the service's task records settle.
const { setTimeout: delay } = require('node:timers/promises');
const answers = require('./answers');
const { fails } = require('./scripted-activities');
const { scriptedCase: scripted } = require('./scripted-case');

const { created, running, completedRecord, downloaded, unconfirmed } = answers;
const WHO = { sendId: 'a-send', by: 'ada', reason: 'looked into the console' };
const goesWell = { 'media.pollVideos': [running, completedRecord], 'media.downloadVideo': [downloaded] };
const waiting = { input: { onUnconfirmed: 'wait' } };

const resolved = (decision, answer) => (_activities, input) => ({
  resolved: true,
  decision,
  creationKey: input.creationKey,
  sendAttempt: 0,
  answer,
  message: 'Done.',
});
const refused = (_activities, input) => ({
  resolved: false,
  reason: 'task_unknown',
  creationKey: input.creationKey,
  answer: null,
  message: 'The service does not know this task id.',
});
const declaredLost = {
  outcome: 'rejected',
  sendAttempt: 0,
  sent: true,
  account: answers.ACCOUNT,
  estimate: { microUnits: 100_000, currency: 'USD' },
  reason: 'declared_lost',
  message: 'Declared lost.',
};

/** Sends an Update, with retries, because Updates are refused until the workflow waits for one. */
async function update(handle, name, argument) {
  for (const end = Date.now() + 60_000; ; await delay(100)) {
    try {
      return await handle.executeUpdate(name, { args: [argument] });
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}

const updated = (name, expect, script, steps) =>
  scripted(`generateVideo.${name}`, expect, script, {
    ...waiting,
    act: async (handle) => {
      for (const [which, argument] of steps) await update(handle, which, argument);
    },
  });

const decisionCases = [
  updated(
    'adopted-by-update',
    'completed',
    (name) => ({
      'media.createVideo': [unconfirmed('http_502')],
      'media.resolveUnconfirmed': [refused, resolved('adopt', created(name))],
      ...goesWell,
    }),
    [
      ['adopt', { taskId: 'mistyped', ...WHO }],
      ['adopt', { taskId: 'adopted', ...WHO }],
    ],
  ),
  updated(
    'declared-lost-by-update',
    'rejected',
    () => ({
      'media.createVideo': [unconfirmed('http_502')],
      'media.resolveUnconfirmed': [resolved('declareLost', declaredLost)],
    }),
    [['declareLost', WHO]],
  ),
  updated(
    'resubmitted-by-update',
    'completed',
    (name) => ({
      'media.createVideo': [unconfirmed('http_502'), answers.inItsSend(created(name))],
      'media.resolveUnconfirmed': [fails, resolved('resubmit', null)],
      ...goesWell,
    }),
    [
      ['resubmit', WHO],
      ['resubmit', WHO],
    ],
  ),
  scripted(
    'generateVideo.cancelled-while-undecided',
    'unconfirmed',
    () => ({ 'media.createVideo': [unconfirmed('http_502')] }),
    {
      ...waiting,
      act: async (handle, { untilEvent }) => {
        await untilEvent(handle, 'activityTaskCompletedEventAttributes');
        await handle.cancel();
      },
    },
  ),
  scripted('generateVideo.found-in-task-records', 'completed', (name) => ({
    'media.createVideo': [{ ...unconfirmed('http_502'), inspectable: true }],
    'media.reconcileCreate': [created(name)],
    ...goesWell,
  })),
  scripted('generateVideo.not-in-task-records', 'unconfirmed', () => ({
    'media.createVideo': [{ ...unconfirmed('http_502'), inspectable: true }],
    'media.reconcileCreate': [unconfirmed('no_outcome_recorded')],
  })),
  scripted('generateVideo.sent-again-by-task-records', 'completed', (name) => ({
    'media.createVideo': [
      { ...unconfirmed('http_502'), inspectable: true },
      answers.inItsSend(created(name)),
    ],
    'media.reconcileCreate': [
      answers.notSent({ sent: true, cause: 'absent_from_records', sendAttemptUsed: true }),
    ],
    ...goesWell,
  })),
  scripted(
    'resolveUnconfirmed.adopted',
    undefined,
    (name) => ({ 'media.resolveUnconfirmed': [resolved('adopt', created(name))] }),
    { args: (name) => ({ creationKey: name, decision: 'adopt', taskId: 'adopted', ...WHO }) },
  ),
  scripted('resolveUnconfirmed.invalid', undefined, () => ({}), {
    args: (name) => ({ creationKey: name, decision: 'forget', ...WHO }),
  }),
  scripted(
    'reviewJournal.listed',
    undefined,
    () => ({
      'media.reviewJournal': [{ unconfirmed: [], created: [], decided: [], scanned: 0, next: null }],
    }),
    { args: (name) => ({ list: 'unconfirmed', creationKey: name }) },
  ),
];

module.exports = { decisionCases, resolved, update, WHO };
