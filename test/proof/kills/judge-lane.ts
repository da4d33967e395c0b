import { type MediaStack } from '../../support/media-stack';
import { readLog, recordedTaskIds, sentAgainUnproved, serviceFacts, taskIdOf } from './create-facts';
import { type LaneResult, type LaneVideo } from './kill-lane';

/** What was measured, by the words of the report. */
export interface LaneCounts {
  kills: number;
  workflows: number;
  'open creates hit outside the window': number;
  'open creates hit inside the window': number;
  'ended without a person': number;
  unconfirmed: number;
  'unconfirmed and accepted by the service': number;
  'creates sent': number;
  accepted: number;
  'sent again by themselves after a possible send': number;
  'accepted beyond one': number;
  'task ids lost after a recorded reply': number;
}

export const NO_COUNTS: Readonly<LaneCounts> = {
  kills: 0,
  workflows: 0,
  'open creates hit outside the window': 0,
  'open creates hit inside the window': 0,
  'ended without a person': 0,
  unconfirmed: 0,
  'unconfirmed and accepted by the service': 0,
  'creates sent': 0,
  accepted: 0,
  'sent again by themselves after a possible send': 0,
  'accepted beyond one': 0,
  'task ids lost after a recorded reply': 0,
};

/**
 * Holds every create of some lanes against the log of the service that they shared and the files of their journals.
 * @returns what was counted, and a line for everything that must not be
 */
export async function judgeLanes(
  stack: MediaStack,
  lanes: readonly LaneResult[],
): Promise<{ readonly counts: LaneCounts; readonly problems: readonly string[] }> {
  const { admin } = stack.sandbox;
  const factsOf = serviceFacts(await admin.requests({ operation: 'create' }), await admin.tasks());
  const counts: LaneCounts = { ...NO_COUNTS };
  const problems: string[] = [];
  for (const lane of lanes) {
    counts.kills += lane.kills;
    for (const video of lane.videos) {
      const facts = factsOf(video.id);
      const log = await readLog(lane.journal, stack.server.namespace, video.id);
      const outcome = video.outcome?.outcome;
      const kept = video.outcome === undefined ? undefined : taskIdOf(video.outcome);
      const lost = recordedTaskIds(log).filter((id) => id !== kept).length;
      const again = sentAgainUnproved(log.map(({ entry }) => entry));
      const completed = outcome === 'completed';
      counts.workflows += 1;
      counts['open creates hit outside the window'] += video.killsOutside;
      counts['open creates hit inside the window'] += Number(video.inside);
      counts['ended without a person'] += Number(completed);
      counts.unconfirmed += Number(outcome === 'unconfirmed');
      counts['unconfirmed and accepted by the service'] += completed ? 0 : facts.accepted;
      counts['creates sent'] += facts.sends;
      counts.accepted += facts.accepted;
      counts['sent again by themselves after a possible send'] += again;
      counts['accepted beyond one'] += Math.max(0, facts.accepted - 1);
      counts['task ids lost after a recorded reply'] += lost;
      const problem = problemOf(video, { ...facts, kept, lost, again });
      if (problem !== undefined) problems.push(`${video.id}: ${problem}`);
    }
  }
  const { creates } = await admin.counters();
  if (creates.received !== counts['creates sent'])
    problems.push(`${creates.received} creates received, ${counts['creates sent']} known`);
  const owned = counts['ended without a person'] + counts['unconfirmed and accepted by the service'];
  if (creates.accepted !== owned)
    problems.push(`${creates.accepted} creates accepted, ${owned} accounted for`);
  return { counts, problems };
}

function problemOf(
  { inside, outcome }: LaneVideo,
  seen: {
    readonly sends: number;
    readonly taskIds: readonly string[];
    readonly kept: string | undefined;
    readonly lost: number;
    readonly again: number;
  },
): string | undefined {
  // Where its task was in the last heartbeat it is known, as outside of the window.
  const isUnknown = inside && outcome?.outcome !== 'completed';
  const expected = isUnknown ? 'unconfirmed' : 'completed';
  if (outcome?.outcome !== expected) return `${outcome?.outcome} instead of ${expected}`;
  if (seen.again > 0) return 'sent again after a possible send';
  if (isUnknown) return seen.sends > 1 ? `${seen.sends} sends` : undefined;
  if (seen.sends !== 1) return `${seen.sends} sends`;
  return seen.lost > 0 || seen.kept !== seen.taskIds[0] ? 'another task id' : undefined;
}
