import { type Logs } from './read-log';
import { activityOf, bitOf, bitsOf, type Bounds, callerOf, type Entry, type World } from './world';

/**
 * One short text per world. What cannot matter any more is left out: the order of senders and of fences, how far behind a
 * lost place is, and which create of a caller an old send belongs to.
 */
export function keyOf(world: World, bounds: Bounds, logs: Logs): string {
  const { senders, callers, log, backup } = world;
  const nameOf = bounds.losses > 0 ? (of: string): string => of : namesIn(world);
  const { accepted, authorised, decisions, lateWrites, mixedUp, lostId, journal, losses } = world;
  let key = `${accepted}${authorised}${decisions}${lateWrites}${journal}${losses}${mixedUp ? 'x' : ''}${lostId ? 'l' : ''}`;
  key += `|${logText(log, logs, nameOf)}`;
  if (backup !== null) key += `|${logText(backup, logs, nameOf)}`;
  const isOver = bounds.decisions === 0 && bounds.losses === 0;
  callers.forEach(({ phase, writes, sameRequest, creates, end, heard, ...known }, index) => {
    key += `;${phase[0]}${end ?? ''}${bitsText(world, index, nameOf)}`;
    if (phase === 'done' && isOver) return;
    key += `${phase[1]}${sameRequest ? 's' : ''}${creates}${known.unrecorded ?? ''}`;
    key += `${known.early ? 'e' : ''}${known.hasTask ? 't' : ''}${heard === null ? '' : `h${heard}`}`;
    if (writes === null) return;
    const { entry, place, cause } = writes;
    const about = 'nonce' in entry ? entry.nonce : entry.of;
    key += `w${place === log.length ? 'c' : ''}${cause?.[0]}${entry.kind[0]}${nameOf(about)}`;
  });
  const texts = senders.map(({ of, zombie, place, step, fate, lost }) => {
    const atPlace = step === 'append' || step === 'late write' ? (place === log.length ? 'c' : 'p') : '';
    return `${of}${zombie ? 'z' : ''}${lost ? 'l' : ''}${atPlace}${step[0]}${step[2]}${fate ?? ''}`;
  });
  return `${key}/${texts.sort().join()}`;
}

/** Names of the creates that somebody may still ask for; the others of a caller are as good as one. */
function namesIn({ senders, callers }: World): (of: string) => string {
  const wanted = new Set<string>(senders.map(({ of }) => of));
  callers.forEach(({ phase, creates, writes, heard }, index) => {
    if (phase !== 'done') wanted.add(activityOf(index, creates - 1));
    if (heard !== null) wanted.add(heard);
    if (writes !== null && 'nonce' in writes.entry) wanted.add(writes.entry.nonce);
  });
  return (of) => (wanted.has(of) ? of : `${callerOf(of)}`);
}

/** What the rule makes of a log. */
function logText(entries: readonly Entry[], logs: Logs, nameOf: (of: string) => string): string {
  const { sends, open, unknown, bought, refused, fenced } = logs.of(entries).state;
  const texts = sends.map(({ sent, answer, decision }) => {
    const fate = answer?.answer;
    const reason = fate?.outcome === 'rejected' ? fate.reason : '';
    const name = sent.kind === 'lost' ? `l${sent.nonce}` : nameOf(sent.nonce);
    return `${name}${fate?.outcome ?? ''}${reason}${decision?.decision ?? ''}`;
  });
  const shut = fenced.map((of) => nameOf(of)).filter((of) => of.includes('.'));
  const hasTask = entries.some((entry) => entry.kind === 'answer' && entry.fate === 'created');
  return `${texts.join()}:${open ?? ''}:${unknown ?? ''}:${bought ?? ''}:${refused ?? ''}:${shut.sort().join()}${hasTask ? 't' : ''}`;
}

/** Which sends of a caller were accepted, and which of its creates were called unsent. */
function bitsText(
  { acceptedOf, unsentOf, callers }: World,
  index: number,
  nameOf: (of: string) => string,
): string {
  const { creates = 0 } = callers[index] ?? {};
  let text = (acceptedOf & bitsOf(index)) === 0 ? '' : 'A';
  if ((acceptedOf & unsentOf) !== 0) text += 'F';
  for (let create = 0; create < creates; create += 1) {
    const of = activityOf(index, create);
    if (nameOf(of) !== of) continue;
    text += `${(acceptedOf & bitOf(of)) === 0 ? '' : `a${create}`}${(unsentOf & bitOf(of)) === 0 ? '' : `u${create}`}`;
  }
  return text;
}
