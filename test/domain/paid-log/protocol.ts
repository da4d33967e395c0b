import {
  type Announced,
  type Activity,
  HEARD_WITHIN,
  type Journal,
  type Run,
  type Said,
  type World,
} from './world';
import { type DecisionEntry, type KeyState, type Licence, type LogAnswer } from './rule';

const ANSWERS: { readonly [said in Said]?: LogAnswer } = {
  created: { outcome: 'created' },
  unconfirmed: { outcome: 'unconfirmed' },
  refused_for_now: { outcome: 'rejected' },
  refused_for_good: { outcome: 'rejected', permanent: true },
  not_sent: { outcome: 'not_sent' },
};

function saidOf(licence: Licence): Said {
  if (licence.do === 'send') return 'not_sent';
  if (licence.do !== 'return') return licence.do;
  const { outcome, permanent } = licence.answer;
  if (outcome === 'rejected') return permanent === true ? 'refused_for_good' : 'declared_lost';
  return outcome === 'completed' ? 'created' : outcome === 'results_lost' ? 'unconfirmed' : outcome;
}

/** What a workflow does with an answer. */
export function settle(run: Run, said: Said): void {
  if (run.state === 'ended') return;
  if (said === 'not_sent') run.activities.at(-1)!.wasToldNotSent = true;
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
export function* sender(world: World, activity: Activity): Generator<void, void> {
  const { turn, run } = activity;
  const { broken, rule } = world;
  const say = (said: Said): void => {
    // The server takes no answer of an earlier try, nor of a closed activity.
    if (turn !== activity.turn || !activity.isOpen) return;
    activity.isOpen = false;
    settle(run, said);
  };
  // A worker that has not yet heard of the new binding goes on with an earlier journal.
  const isStale =
    world.earlier.length > 0 && world.steps < world.journal.since + HEARD_WITHIN && world.chance(0.4);
  const journal = isStale ? world.pick(world.earlier) : world.journal;
  const me = { sender: activity.id, runId: run.id, fingerprint: run.fingerprint };
  // An earlier try is seen by the time of its schedule, also when an operator has set its number and heartbeat back.
  const isLater = turn > 0 && broken !== 'earlier_try_forgotten';
  if (!isStale && journal.id !== world.bound) return say(isLater ? 'pending' : 'not_sent');
  const { heartbeat } = activity;
  const isForeign = heartbeat !== null && !world.holds(journal, journal.log, heartbeat);
  if (isLater && (isForeign || world.isTooNew(journal, activity))) return say('pending');
  let place = journal.log.length;
  yield;
  const licence = rule.decide(rule.stateOf(journal.log.slice(0, place)), me);
  yield;
  if (licence.do !== 'send') return say(saidOf(licence));
  const intent = { kind: 'intent', nonce: world.nonce(), ...me } as const;
  let isWon = world.append(journal, place, intent);
  if (!isWon && broken === 'append_again') {
    place = journal.log.length;
    isWon = world.append(journal, place, intent);
  }
  yield;
  if (!isWon) {
    // Read again to answer, not to send. A later try proves nothing about an earlier one that may live.
    const now = rule.decide(rule.stateOf(journal.log), me);
    return say(now.do === 'send' && isLater ? 'pending' : saidOf(now));
  }
  const isHeard = (activity.isOpen && turn === activity.turn) || (world.isSplit && world.chance(0.5));
  if (isHeard) activity.heartbeat = { journal: journal.id, place, nonce: intent.nonce };
  yield;
  if (!isHeard && broken !== 'unheard_sends') {
    yield* record(world, journal, intent.nonce, 'not_sent');
    return say('not_sent');
  }
  const said = send(world, activity);
  yield;
  if (broken === 'told_before_recorded') {
    say(said);
    yield;
  }
  yield* record(world, journal, intent.nonce, said);
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

function* record(world: World, journal: Journal, nonce: string, said: Said): Generator<void, void> {
  for (;;) {
    const place = journal.log.length;
    yield;
    const entry = { kind: 'answer', nonce, answer: ANSWERS[said] as LogAnswer } as const;
    if (world.append(journal, place, entry)) return;
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
    const licence = rule.decide(state, { sender: activity.id, runId: run.id, fingerprint: run.fingerprint });
    if (licence.do === 'pending') {
      if (maySend(world, activity, licence.of.sender)) {
        yield;
        continue;
      }
      const entry = { kind: 'answer', nonce: licence.of.nonce, answer: { outcome: 'unconfirmed' } } as const;
      if (!world.append(journal, place, entry)) continue;
      return tell('unconfirmed');
    }
    const said = saidOf(licence);
    if (licence.do !== 'send' && said !== 'not_sent') return tell(said);
    // It wrote an intent, and what became of that is known by now or was decided: never "not sent".
    if (world.hasSent(log, activity.id) && broken !== 'own_intent_forgotten') return tell('refused_for_now');
    if (world.isTooNew(journal, activity) && broken !== 'bound_later_proves') {
      const heartbeatOfNobody = { journal: '', place: 0, nonce: world.nonce() };
      if (!note(world, journal, place, state, { run, heartbeat: heartbeatOfNobody })) continue;
      return tell('unconfirmed');
    }
    const fence = { kind: 'fence', sender: activity.id } as const;
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
  return world.append(journal, place, { kind: 'lost', nonce, runId: run.id, fingerprint: run.fingerprint });
}

/** Whether the sender of an open intent may be alive. One in five of its own: its window is over, it is suspended. */
function maySend(world: World, activity: Activity, sender: string | undefined): boolean {
  if (sender === activity.id && world.isAlive((one) => one === activity)) return !world.chance(0.2);
  return world.isAlive((one) => one.id === sender);
}

/** A person decides, and the decision is written until it has a place. */
export function* decideBy(world: World, decision: DecisionEntry): Generator<void, void> {
  for (;;) {
    const { journal } = world;
    const place = journal.log.length;
    const { unknown, bought } = world.rule.stateOf(journal.log.slice(0, place));
    yield;
    if (!world.append(journal, place, decision)) continue;
    if (decision.decision === 'resubmit' && unknown?.nonce === decision.about && bought === null)
      world.authorised++;
    return;
  }
}
