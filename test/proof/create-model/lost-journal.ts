import { isUnseen } from '../../../src/activities/unknown-sends';
import { type Logs } from './read-log';
import { activityOf, type Activity, type Caller, type Entry, type Rules, type World } from './world';

/**
 * A person binds the next journal, an empty one or an earlier copy, when no worker uses the last one any more. What
 * histories tell of paid calls is written into it first.
 */
export function loseJournal(copy: World, found: readonly Entry[] | null, rules: Rules, logs: Logs): void {
  copy.losses += 1;
  copy.log = found ?? [];
  if (found === null) copy.journal += 1;
  // Only what is on the wire goes on.
  copy.senders = copy.senders.filter(({ step }) => step === 'send');
  for (const sender of copy.senders) sender.lost = true;
  copy.callers.forEach((own, index) => {
    if (own.phase !== 'done') own.early = true;
    if (own.phase === 'writing') Object.assign(own, { phase: 'reconcile', writes: null });
    const activity = activityOf(index, own.creates - 1);
    const mayHaveSent = own.heard === activity || own.hasTask;
    if (!rules.standsIn || !mayHaveSent || isKnown(copy, activity, own, logs)) return;
    const nonce = own.hasTask ? unseenName(activity) : (own.heard ?? unseenName(activity));
    copy.log = [...copy.log, { kind: 'lost', of: activity, nonce }];
    if (own.hasTask) copy.log = [...copy.log, { kind: 'answer', nonce, fate: 'created' }];
  });
}

/** A send that no log has, by its sender. */
export const unseenName = (activity: Activity): string => `unseen ${activity}`;

/** Whether the journal has what a call left (src/worker/bind-queue.ts). */
function isKnown({ log }: World, activity: Activity, { hasTask, heard }: Caller, logs: Logs): boolean {
  const { bought, fenced } = logs.of(log).state;
  if (bought !== null || fenced.includes(activity)) return true;
  return !hasTask && !isUnseen(logs.of(log), { sender: activity, announced: heard });
}
