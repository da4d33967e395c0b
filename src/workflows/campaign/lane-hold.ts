import { type CallWait } from '../../domain/call-wait';
import { type Lane } from './lane';

/** How long after the end of a wait it is still told: the next try needs a moment, and says it again. */
const HELD_FOR_MS = 60_000;

/** A row has to wait: news for the campaign unless others do already. */
export function holdRow(lane: Lane, wait: CallWait): void {
  const isNews = heldNow(lane, Date.now()) === null;
  lane.held = wait;
  if (isNews) lane.parent.tell();
}

export function heldNow({ held }: Pick<Lane, 'held'>, now: number): CallWait | null {
  return held !== null && now < held.until + HELD_FOR_MS ? held : null;
}
