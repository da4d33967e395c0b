import {
  type DecisionEntry,
  type IntentEntry,
  type LogEntry,
  purchaseOf,
  type RecordedAnswer,
} from '../../../src/domain/log-entries';
import { type KeyState, type Licence } from '../../../src/domain/paid-log';
import { answers } from '../../domain/create-answers';
import { answerEntry, fenceEntry, intentEntry, lostEntry } from '../../support/log-entries';
import {
  type Announced,
  type Activity,
  BINDING_KNOWN_WITHIN,
  type Journal,
  type Run,
  type Said,
  timeOf,
  type World,
} from './world';

/** What a sender records of its request. A refusal for now asks for a pause in one case of three. */
function answerFor(world: World, said: Said): RecordedAnswer {
  // Every other reply says what the call has cost.
  if (said === 'created')
    return world.steps % 2 === 0 ? answers.created(0) : { ...answers.created(0), actual: AMOUNT };
  if (said === 'unconfirmed') return answers.unconfirmed(0);
  if (said === 'refused_for_good') return answers.rejected(0);
  if (said === 'not_sent') return answers.notSent(0);
  return answers.refused(0, world.chance(1 / 3) ? timeOf(world.steps + PAUSE) : null);
}

const AMOUNT = { microUnits: 300_000, currency: 'USD' } as const;

/** Steps for which the service asks not to be called. */
const PAUSE = 20;

const SAID: { readonly [outcome in RecordedAnswer['outcome']]: Said } = {
  created: 'created',
  completed: 'created',
  unconfirmed: 'unconfirmed',
  results_lost: 'unconfirmed',
  rejected: 'refused_for_good',
  refused_for_now: 'refused_for_now',
  not_sent: 'not_sent',
};

function saidOf({ sends }: KeyState, licence: Licence): Said {
  if (licence.do === 'send' || licence.do === 'fenced') return 'not_sent';
  if (licence.do !== 'return') return licence.do;
  const send = sends[licence.at]!;
  if (purchaseOf(send) !== undefined) return 'created';
  if (send.decision !== null) return 'declared_lost';
  return send.answer === null ? 'unconfirmed' : SAID[send.answer.answer.outcome];
}

/** What a workflow does with an answer. */
export function settle(run: Run, said: Said, by: 'itself' | 'reconciliation'): void {
  if (run.state === 'ended') return;
  if (said === 'not_sent') run.activities.at(-1)!.toldNotSent = by;
  if (said === 'pending') run.state = 'timed_out';
  else if (said !== 'not_sent' && said !== 'refused_for_now') end(run, said);
  else if (++run.refusals > 4) end(run, 'refused_for_now');
  else run.state = 'idle';
}

export function end(run: Run, outcome: NonNullable<Run['outcome']>): void {
  run.state = 'ended';
  run.outcome = outcome;
}

/**
 * One try of a create activity, in the steps of the sender: open, decide, append, announce, send, append, tell. It keeps
 * the journal that it opened.
 */
export function* sender(
  world: World,
  activity: Activity,
  // Of the moment in which it was handed out.
  { turn, attemptAt } = { ...activity },
): Generator<void, void> {
  const { run } = activity;
  const { broken, rule } = world;
  const say = (said: Said): void => {
    // The server takes no answer of an earlier try, nor of a closed activity.
    if (turn !== activity.turn || !activity.isOpen) return;
    activity.isOpen = false;
    settle(run, said, 'itself');
  };
  // An earlier try is seen by the time of its schedule, also when an operator has set its number and heartbeat back.
  const isLater = turn > 0 && broken !== 'earlier_try_forgotten';
  // A worker that has not yet heard of the new binding goes on with an earlier journal. A later try asks anew.
  const isHeardSince = world.steps >= world.journal.since + BINDING_KNOWN_WITHIN || isLater;
  const isStale = world.earlier.length > 0 && !isHeardSince && world.chance(0.4);
  const journal = isStale ? world.pick(world.earlier) : world.journal;
  const asks = () => ({ ...world.caller(activity), attemptAt: timeOf(attemptAt) });
  if (!isStale && journal.id !== world.bound) return say(isLater ? 'pending' : 'not_sent');
  const { heartbeat } = activity;
  const listed = journal.log.length;
  yield;
  // Behind the entries that it read: of a log that was set back meanwhile there may be fewer than were listed.
  const read = journal.log.slice(0, listed);
  let place = read.length;
  const isForeign = heartbeat !== null && !world.holds(journal, read, heartbeat);
  if (isLater && (isForeign || world.isTooNew(journal, activity))) return say('pending');
  const state = rule.stateOf(read);
  const licence = rule.decide(state, asks());
  yield;
  if (licence.do !== 'send') return say(saidOf(state, licence));
  const { sender: own, runId, fingerprint } = asks();
  const intent = intentEntry({
    ...{ nonce: world.nonce(), sender: own, runId, fingerprint },
    ...{ attemptAt: timeOf(attemptAt), at: timeOf(world.steps) },
  });
  let isWon = world.append(journal, place, intent, read.at(-1));
  if (!isWon && broken === 'append_again') {
    place = journal.log.length;
    isWon = world.append(journal, place, intent);
  }
  yield;
  if (!isWon) {
    // Read again to answer, not to send. A later try proves nothing about an earlier one that may live.
    const behind = rule.stateOf(journal.log);
    const now = rule.decide(behind, asks());
    return say(now.do === 'send' && isLater ? 'pending' : saidOf(behind, now));
  }
  const isHeard = (activity.isOpen && turn === activity.turn) || (world.isSplit && world.chance(0.5));
  if (isHeard) activity.heartbeat = { journal: journal.id, place, nonce: intent.nonce };
  yield;
  if (!isHeard && broken !== 'unheard_sends') {
    yield* record(world, journal, intent, 'not_sent');
    return say('not_sent');
  }
  const said = send(world, activity);
  yield;
  if (broken === 'told_before_recorded') {
    say(said);
    yield;
  }
  yield* record(world, journal, intent, said);
  say(rule.stateOf(journal.log).bought === null ? said : 'created');
}

/** The service: accepted with a reply, accepted or not without one, or refused. */
function send(world: World, activity: Activity): Said {
  const fate = world.random();
  if (fate < 0.65) {
    world.accepted.push(activity.run.id);
    activity.wasAccepted = true;
    return fate < 0.45 ? 'created' : 'unconfirmed';
  }
  return fate < 0.75 ? 'unconfirmed' : world.pick(['refused_for_now', 'refused_for_good'] as const);
}

/** Whose intent the journal has lost meanwhile is noted first: of an answer alone nobody knows what was sent. */
function* record(world: World, journal: Journal, sent: IntentEntry, said: Said): Generator<void, void> {
  const { nonce, sender: by, runId, fingerprint } = sent;
  for (;;) {
    const place = journal.log.length;
    const behind = journal.log.at(-1);
    const isKnown = world.rule.stateOf(journal.log).sends.some((send) => send.sent.nonce === nonce);
    yield;
    if (!isKnown && world.broken !== 'answer_of_nothing') {
      world.append(journal, place, lostEntry({ nonce, sender: by, runId, fingerprint }), behind);
      continue;
    }
    const entry = answerEntry(answerFor(world, said), { nonce, at: timeOf(world.steps) });
    if (world.append(journal, place, entry, behind)) return;
  }
}

/** Answers for an activity that brought no answer, as the last attempt of it may still live. */
export function* reconcile(
  world: World,
  activity: Activity,
  tell: (said: Said) => void,
): Generator<void, void> {
  const { rule, broken } = world;
  const { run } = activity;
  for (;;) {
    const { journal } = world;
    if (journal.id !== world.bound) {
      yield;
      continue;
    }
    const place = journal.log.length;
    const log = journal.log.slice(0, place);
    const state = rule.stateOf(log);
    yield;
    const { heartbeat } = activity;
    if (heartbeat !== null && !world.holds(journal, log, heartbeat) && broken !== 'other_journal_proves') {
      const said = unseen(world, journal, place, state, { run, heartbeat });
      if (said === null) continue;
      return tell(said);
    }
    const licence = rule.decide(state, world.caller(activity));
    if (licence.do === 'pending') {
      const { nonce, sender: sentBy } = state.sends[licence.at]!.sent;
      if (maySend(world, activity, sentBy)) {
        yield;
        continue;
      }
      const entry = answerEntry(answers.unconfirmed(licence.at), { nonce, at: timeOf(world.steps) });
      if (!world.append(journal, place, entry)) continue;
      return tell('unconfirmed');
    }
    const said = saidOf(state, licence);
    if (licence.do !== 'send' && said !== 'not_sent') return tell(said);
    // It wrote an intent, and what became of that is known by now or was decided: never "not sent".
    if (world.hasSent(log, activity.id) && broken !== 'own_intent_forgotten') return tell('refused_for_now');
    if (world.isTooNew(journal, activity) && broken !== 'bound_later_proves') {
      const heartbeat = { journal: '', place: 0, nonce: world.nonce() };
      if (!note(world, journal, place, state, { run, heartbeat })) continue;
      return tell('unconfirmed');
    }
    const fence = fenceEntry({ sender: activity.id });
    if (broken === 'no_fence' || world.append(journal, place, fence)) return tell('not_sent');
  }
}

interface Unseen {
  readonly run: Run;
  readonly heartbeat: Announced;
}

/** The answer about an announced send that this log does not have; null where the log has grown meanwhile. */
function unseen(
  world: World,
  journal: Journal,
  place: number,
  state: KeyState,
  unseenSend: Unseen,
): Said | null {
  if (state.bought !== null) return 'created';
  const { nonce } = unseenSend.heartbeat;
  const isTold = journal.log.slice(0, place).some((entry) => entry.kind === 'lost' && entry.nonce === nonce);
  // Told before, and no longer unknown: somebody has decided.
  if (isTold && state.unknown === null) return 'refused_for_now';
  return note(world, journal, place, state, unseenSend) ? 'unconfirmed' : null;
}

function note(
  world: World,
  journal: Journal,
  place: number,
  { unknown }: KeyState,
  { run, heartbeat: { nonce } }: Unseen,
): boolean {
  if (unknown !== null) return true;
  const { id: runId, fingerprint } = run;
  return world.append(journal, place, lostEntry({ nonce, sender: '', runId, fingerprint }));
}

/** Whether the sender of an open intent may be alive. One in five of its own: its window is over, it is suspended. */
function maySend(world: World, activity: Activity, sender: string): boolean {
  if (sender === activity.id && world.isAlive((one) => one === activity)) return !world.chance(0.2);
  return world.isAlive((one) => one.id === sender);
}

/** Whether a person has decided about this send, which was of unknown fate. */
function isDecided({ rule }: World, log: readonly LogEntry[], about: string): boolean {
  return rule.stateOf(log).sends.some(({ sent, decision }) => sent.nonce === about && decision !== null);
}

/** A person decides, and the decision is written until it has a place. */
export function* decideBy(world: World, decision: DecisionEntry): Generator<void, void> {
  for (;;) {
    const { journal } = world;
    const place = journal.log.length;
    const wasDecided = isDecided(world, journal.log, decision.about);
    yield;
    if (!world.append(journal, place, decision)) continue;
    const counts = !wasDecided && isDecided(world, journal.log, decision.about);
    if (counts && decision.decision === 'resubmit') world.authorised++;
    return;
  }
}
