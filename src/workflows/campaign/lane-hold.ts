import { type Lane } from './lane';

/** Why a row had to wait last, where a person may have to mend something. */
export interface LaneHold {
  readonly why: string;
  /** Workflow time in milliseconds. */
  readonly until: number;
}

/** How long after the end of a wait it is still told: the next try needs a moment, and says it again. */
const HELD_FOR_MS = 60_000;

/** A row has to wait: news for the campaign unless others do already. */
export function holdRow(lane: Lane, { why, until }: LaneHold): void {
  const isNews = heldNow(lane, Date.now()) === null;
  lane.held = { why, until };
  if (isNews) lane.parent.tell();
}

export function heldNow({ held }: Pick<Lane, 'held'>, now: number): string | null {
  return held !== null && now < held.until + HELD_FOR_MS ? held.why : null;
}
