import { buildTimeline } from '../../../packages/replay/src/timeline/build-timeline';
import { ENTRY_KINDS, type EntryKind, type Timeline } from '../../../packages/replay/src/timeline/timeline';
import { timelineText } from '../../../packages/replay/src/timeline/timeline-text';
import { WORKFLOW } from '../../../src/domain/names';
import { goldenHistory, goldenOutcome } from '../golden-histories';
import { goldenTargets } from './golden-targets';

const OURS: readonly string[] = Object.values(WORKFLOW);
/** Kinds for work of others. */
const OWN: readonly EntryKind[] = ['activity', 'timer', 'child', 'signal', 'sent_signal', 'event', 'marker'];

describe('the timeline of a golden history', () => {
  const targets = goldenTargets();
  const built = new Map(
    targets.map((target) => [target.target, { target, timeline: buildTimeline(target) }]),
  );
  const names = [...built.keys()];
  const of = (name: string) => built.get(name) as { target: (typeof targets)[number]; timeline: Timeline };

  it('there are histories of every workflow', () => {
    const types = new Set(targets.map(({ runs }) => runs[0]?.workflowType));
    for (const type of OURS) expect(types).toContain(type);
  });

  it.each(names)(
    '%s: every event belongs to one entry, entries are in order, and the time adds up',
    (name) => {
      const { target, timeline } = of(name);
      const told = timeline.entries.flatMap(({ events }) =>
        events.flatMap(({ run, ids }) => ids.map((id) => `${run}/${id}`)),
      );
      const recorded = target.runs.flatMap(({ history }, run) =>
        (history.events ?? []).map(({ eventId }) => `${run}/${String(eventId)}`),
      );
      expect([...told].sort()).toEqual([...recorded].sort());
      const times = timeline.entries.map(({ at }) => at);
      expect(times).toEqual([...times].sort());
      for (const { at, until } of timeline.entries) expect(at <= until).toBe(true);
      const whole = Date.parse(timeline.lastEventAt ?? '') - Date.parse(timeline.startedAt ?? '');
      expect(timeline.spent.reduce((sum, { ms }) => sum + ms, 0)).toBe(whole);
    },
  );

  it.each(names)('%s: is told in the terms of the service', (name) => {
    const { target, timeline } = of(name);
    const kinds = timeline.entries.map(({ kind }) => kind);
    if (OURS.includes(timeline.workflowType)) expect(kinds.filter((kind) => OWN.includes(kind))).toEqual([]);
    for (const kind of kinds) expect(ENTRY_KINDS[kind]).toBeDefined();
    const text = timelineText(timeline);
    expect(text).not.toMatch(/undefined|NaN|\[object|\bnull\b/);
    // An id is never broken: it is there to be copied.
    const broad = text.split('\n').filter((line) => line.length > 80 && !/\S{30}/.test(line));
    expect(broad).toEqual([]);
    const outcome = goldenOutcome(goldenHistory(target.runs.at(-1)?.source ?? ''));
    if (outcome !== undefined) expect(timeline.outcome).toBe(outcome);
  });
});
