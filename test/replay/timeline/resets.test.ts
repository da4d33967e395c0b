import { historyFromJson } from '../../../packages/replay/src/history-codec';
import { type LoadedRun } from '../../../packages/replay/src/loaded-history';
import { runOf } from '../../../packages/replay/src/read-history';
import { buildTimeline } from '../../../packages/replay/src/timeline/build-timeline';
import { timelineText } from '../../../packages/replay/src/timeline/timeline-text';
import { type GoldenEvent, goldenHistory } from '../golden-histories';
import { chainsOf } from '../support/chains-of';
import { goldenRun } from './golden-targets';

const FILE = 'generateVideo.completed-after-refusal.v1.json';
const NEW_RUN = '00000000-0000-4000-8000-00000000beef';

/** Adds to each event id from a place on, wherever it is named. */
const moved = (value: unknown, from: number, by: number): unknown =>
  JSON.parse(JSON.stringify(value), (name, item: unknown) =>
    /eventId$/i.test(name) && Number(item) >= from ? String(Number(item) + by) : item,
  ) as unknown;

/**
 * The run of a golden history after a reset to its first workflow task, as a server writes it: copies, the failed task with the
 * ids of both runs, and everything again.
 */
function resetOf(base: LoadedRun): LoadedRun {
  const { events } = goldenHistory(FILE).json;
  const at = events.findIndex(({ eventType }) => eventType === 'EVENT_TYPE_WORKFLOW_TASK_COMPLETED');
  const id = at + 1;
  const copies = events.slice(0, at);
  const [scheduled, started] = copies.slice(-2) as [GoldenEvent, GoldenEvent];
  const failed = {
    eventId: String(id),
    eventTime: events.at(-1)?.eventTime,
    eventType: 'EVENT_TYPE_WORKFLOW_TASK_FAILED',
    workflowTaskFailedEventAttributes: {
      cause: 'WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW',
      baseRunId: base.runId,
      newRunId: NEW_RUN,
    },
  };
  const again = [scheduled, started].map((event, index) => ({
    ...event,
    eventId: String(id + 1 + index),
    eventTime: failed.eventTime,
  }));
  const rest = (moved(events.slice(at), id, 3) as GoldenEvent[]).map((event) => ({
    ...event,
    eventTime: failed.eventTime,
  }));
  const json = { events: [...copies, failed, ...again, ...rest] };
  return runOf(historyFromJson(json), 'reset.json');
}

describe('a run and its reset', () => {
  const base = goldenRun(FILE);
  const reset = resetOf(base);

  it('are joined by what the reset says, in whatever order they are read', () => {
    expect(reset.runId).toBe(NEW_RUN);
    for (const runs of [
      [base, reset],
      [reset, base],
    ])
      expect(chainsOf(runs).map((chain) => chain.runs.map(({ runId }) => runId))).toEqual([
        [base.runId, NEW_RUN],
      ]);
  });

  it('are one story: each create with the run that sent it, each event once', () => {
    const timeline = buildTimeline({ target: 'x', runs: [base, reset] });
    const alone = buildTimeline({ target: 'x', runs: [base] });
    const creates = timeline.entries.filter(({ kind }) => kind === 'create');
    expect(creates.map(({ events }) => events[0]?.run)).toEqual([0, 0, 1, 1]);
    expect(timeline.sends).toBe(2 * alone.sends);
    expect(timeline.runs.map(({ resetFrom }) => resetFrom)).toEqual([
      null,
      { runId: base.runId, eventId: 3 },
    ]);
    const line = timeline.entries.find(({ kind }) => kind === 'reset');
    expect(line?.text).toBe('Reset: run 2 repeats everything after event 3 of run 1');
    const told = timeline.entries.flatMap(({ events }) =>
      events.flatMap(({ run, ids }) => ids.map((id) => `${run}/${id}`)),
    );
    const recorded = [base, reset].flatMap(({ history }, run) =>
      (history.events ?? []).map(({ eventId }) => `${run}/${String(eventId)}`),
    );
    expect([...told].sort()).toEqual([...recorded].sort());
    expect(timeline.outcome).toBe('completed');
    expect(timelineText(timeline)).toContain('in 2 runs');
  });

  it('the new run alone says which events are those of the other', () => {
    const timeline = buildTimeline({ target: 'x', runs: [reset] });
    expect(timeline.entries.map(({ kind }) => kind).slice(0, 2)).toEqual(['started', 'reset']);
    expect(timeline.entries[1]?.text).toBe(
      `Reset: events 1 to 3 were copied from run ${base.runId}; this run produced the later events`,
    );
  });

  it('an outcome before the reset is none any more', () => {
    const events = (reset.history.events ?? []).slice(0, 6);
    const open = { ...reset, history: { ...reset.history, events } } as LoadedRun;
    expect(buildTimeline({ target: 'x', runs: [base, open] }).outcome).toBeNull();
  });
});
