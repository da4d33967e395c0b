import { type LoadedRun } from '../../../packages/replay/src/loaded-history';
import { buildTimeline } from '../../../packages/replay/src/timeline/build-timeline';
import { rowCause } from '../../../packages/replay/src/timeline/campaign-rows';
import {
  type SpentOn,
  type Timeline,
  type TimelineEntry,
  type TimelineRow,
} from '../../../packages/replay/src/timeline/timeline';
import { timelineText } from '../../../packages/replay/src/timeline/timeline-text';
import { NO_MONEY } from '../../../src/domain/campaign/results';
import { goldenTarget } from './golden-targets';

const timelineOf = (...names: readonly string[]): Timeline =>
  buildTimeline(goldenTarget(...names.map((name) => `${name}.v1.json`)));

const said = ({ entries }: Timeline): string[] => entries.map(({ kind, text }) => `${kind}: ${text}`);
const one = ({ entries }: Timeline, kind: TimelineEntry['kind']): TimelineEntry => {
  const [only, ...others] = entries.filter((entry) => entry.kind === kind);
  expect(others).toEqual([]);
  return only as TimelineEntry;
};

describe('the story of a video', () => {
  it('names the task, polls by what they found, and the wait that the service asked for', () => {
    const timeline = timelineOf('generateVideo.completed-after-retry-after');
    const task = 'generateVideo.completed-after-retry-after';
    expect(said(timeline)).toEqual([
      'started: generateVideo started',
      `create: Create: sent, accepted as task ${task}, estimate 0.10 USD, in 36 ms`,
      'poll_errors: 1 poll: rate_limited (HTTP 429)',
      'retry_after: Waited 7 s before the next poll: the service requested 7 s (Retry-After)',
      'poll_errors: 1 poll: unavailable (HTTP 503)',
      'polls: 1 poll: completed',
      'download: Download: 4.1 kB stored in 10 ms (819.2 kB/s)',
      'ended: Ended: completed',
    ]);
    expect(timeline).toMatchObject({
      taskId: task,
      model: 'cine-1',
      sends: 1,
      money: { estimate: { microUnits: 100_000, currency: 'USD' }, state: 'settled' },
      polls: { count: 3, errors: { rate_limited: 1, unavailable: 1 }, changes: [{ status: 'completed' }] },
    });
    expect(one(timeline, 'retry_after').events).toEqual([{ run: 0, ids: [24, 25, 26, 27, 28] }]);
    const asked = timeline.spent.find(({ on }) => on === 'retry_after');
    expect(asked?.ms).toBeGreaterThanOrEqual(7_000);
  });

  it('joins runs that continued as new, with their gaps, and folds polls of one status', () => {
    const timeline = timelineOf(...[1, 2, 3].map((run) => `generateVideo.continued-watching-run${run}`));
    expect(timeline.runs.map(({ end }) => end)).toEqual([
      'continued_as_new',
      'continued_as_new',
      'completed',
    ]);
    const joined = timeline.entries.filter(({ kind }) => kind === 'continued');
    expect(joined.map(({ facts }) => facts['run'])).toEqual([2, 3]);
    for (const { events, facts } of joined) {
      expect(events.map(({ run }) => run)).toHaveLength(2);
      expect(facts['gapMs']).toBeGreaterThanOrEqual(0);
    }
    const folded = timeline.entries.filter(({ kind }) => kind === 'polls');
    expect(folded.reduce((sum, { facts }) => sum + Number(facts['polls'] ?? 0), 0)).toBe(
      timeline.polls.count,
    );
    expect(folded.length).toBeLessThan(timeline.polls.count);
  });

  it('tells a create of unknown fate with its evidence, and the decision of a person', () => {
    const timeline = timelineOf('generateVideo.adopted-by-update');
    expect(one(timeline, 'create')).toMatchObject({
      tone: 'bad',
      text: expect.stringMatching(
        /^Create: sent once \(http_502\): it may have been accepted, in \d+ ms$/,
      ) as string,
      facts: { outcome: 'unconfirmed', sent: true, evidence: { cause: 'http_502' } },
    });
    const decisions = timeline.entries.filter(({ kind }) => kind === 'decision');
    expect(decisions.map(({ text }) => text)).toEqual([
      'Decision by ada: adopt: refused (task_unknown)',
      'Decision by ada: adopt, carried out',
    ]);
    expect(timeline.spent.map(({ on }) => on)).toContain('waiting_for_person');
  });

  it('counts a send that only the journal knows', () => {
    const timeline = timelineOf('generateVideo.completed-after-lost-worker');
    expect(timeline.sends).toBe(1);
    expect(one(timeline, 'reconcile').facts).toMatchObject({ outcome: 'created' });
    expect(one(timeline, 'create').facts).toMatchObject({ failure: 'heartbeat timeout' });
  });

  it('takes the advice of an outcome from the table of failures', () => {
    const timeline = timelineOf('generateVideo.failed-moderation');
    expect(timeline.outcome).toBe('failed');
    expect(timeline.advice).toMatch(/\. /);
    expect(timelineText(timeline)).toContain(`  outcome   failed`);
  });

  it('has the polls of its watcher, and those of its own when the watcher is lost', () => {
    const watched = timelineOf('generateVideo.completed-shared');
    expect(one(watched, 'watch')).toMatchObject({
      text: '3 polls by the watcher: completed',
      facts: { polls: 3 },
    });
    expect(watched.polls).toMatchObject({ count: 3, changes: [{ status: 'completed' }] });
    expect(watched.spent[0]?.on).toBe('waiting_for_polls');
    expect(said(timelineOf('generateVideo.completed-after-shared')).slice(2, 6)).toEqual([
      'watch: No answer from the watcher (Scripted): the video polls on its own',
      'watch: Left the watcher, which no longer exists',
      'polls: 1 poll: in_progress',
      'polls: 1 poll: completed',
    ]);
    expect(said(timelineOf('generateVideo.completed-after-full-watchers')).slice(2, 6)).toEqual([
      'watch: The watcher does not accept more videos',
      'watch: The watcher does not accept more videos',
      'polls: 1 poll: in_progress',
      'polls: 1 poll: completed',
    ]);
    const nudged = said(timelineOf('generateVideo.nudged-while-shared'));
    expect(nudged.filter((text) => text.startsWith('nudge'))).toEqual([
      'nudge: Nudged: the next poll runs as soon as possible',
      'nudge: Nudge forwarded to the watcher',
    ]);
  });

  it('has each poll of its watcher where the history of that is at hand, and says when it is gone', () => {
    const video = goldenTarget('generateVideo.completed-shared.v1.json');
    const watcher = goldenTarget('watchVideos.completed.v1.json');
    const told = buildTimeline({ ...video, watchers: [watcher] });
    expect(told.polls).toMatchObject({
      count: 3,
      changes: [{ status: 'in_progress' }, { status: 'in_progress' }, { status: 'completed' }],
    });
    expect(told.polls.longestGapMs).toBeGreaterThan(3_000);
    const polls = told.entries.filter(({ kind }) => kind === 'polls');
    // They have no events in the history of the video.
    expect(polls.map(({ facts, events }) => [facts['polls'], events])).toEqual([
      [2, []],
      [1, []],
    ]);
    const gone = buildTimeline({ ...video, watchers: [{ ...watcher, runs: [] }] });
    expect(one(gone, 'watch').text).toBe(
      '3 polls by the watcher, whose history the server no longer has: completed',
    );
    expect(gone.polls.count).toBe(3);
  });

  it('a healthy watch shows no tries: it waits in the server by failing', () => {
    const watch = one(timelineOf('generateVideo.completed-shared'), 'watch');
    expect(watch.text).not.toContain('try');
    expect(Object.keys(watch.facts)).not.toEqual(expect.arrayContaining(['tries']));
    expect(watch.facts['lastFailure']).toBeUndefined();
  });

  it('has the loss of its watcher, and when another run of that took over', () => {
    const video = goldenTarget('generateVideo.completed-shared.v1.json');
    const [watcher] = goldenTarget('watchVideos.completed.v1.json').runs as [LoadedRun];
    const events = watcher.history.events ?? [];
    const lost = {
      ...watcher,
      runId: 'lost',
      history: {
        events: [
          events[0],
          {
            eventId: events[1]?.eventId,
            eventTime: events[10]?.eventTime,
            workflowExecutionTerminatedEventAttributes: { identity: 'ops@host', reason: 'too many' },
          },
        ],
      },
    } as unknown as LoadedRun;
    const later = { ...watcher, history: { events: events.slice(12) } } as LoadedRun;
    const of = (...runs: LoadedRun[]) =>
      buildTimeline({ ...video, watchers: [{ target: 'watcher', runs }] })
        .entries.filter(({ kind, events: ids }) => kind === 'watch' && ids.length === 0)
        .map(({ tone, text }) => [tone, text]);
    expect(of(lost, later)).toEqual([
      [
        'wait',
        expect.stringMatching(
          /^The watcher was terminated by ops@host: too many; its next run took over after \d/,
        ),
      ],
    ]);
    // A reset ends a run too, but loses nothing.
    const again = {
      ...later,
      history: {
        events: [
          {
            eventTime: events[10]?.eventTime,
            workflowTaskFailedEventAttributes: { baseRunId: 'lost', newRunId: 'x' },
          },
        ],
      },
    } as unknown as LoadedRun;
    expect(of(lost, again)).toEqual([]);
    expect(of(lost)).toEqual([
      ['bad', 'The watcher was terminated by ops@host: too many; no new run has started'],
    ]);
  });

  it('of a watcher names who joined, left and was told', () => {
    const watcher = said(timelineOf('watchVideos.completed'));
    expect(watcher.filter((text) => /^(watch|told)/.test(text))).toEqual([
      'watch: generateVideo.completed-shared joined',
      'told: Sent files and results to 1 video: 1 completed',
    ]);
    expect(said(timelineOf('watchVideos.left'))).toContain(
      'watch: generateVideo.cancelled-while-shared left',
    );
  });

  it('knows the parent of a child, and the child of a parent', () => {
    expect(timelineOf('generateVideo.completed-as-child').parent?.workflowId).toBeTruthy();
    expect(one(timelineOf('buyFilm.completed'), 'child')).toMatchObject({
      tone: 'good',
      facts: { workflowType: 'generateVideo', outcome: 'completed' },
    });
  });
});

describe('the story of a campaign', () => {
  const batches = [0, 1].map((batch) => timelineOf(`campaignBatch.paused-and-resumed-batch${batch}`));
  const campaign = buildTimeline(goldenTarget('runCampaign.paused-and-resumed.v1.json'), {
    children: batches,
  });

  it('has its plan, batches, orders, book and the changes that people made', () => {
    const kinds = campaign.entries.map(({ kind }) => kind);
    for (const kind of ['plan', 'book', 'batch', 'orders', 'report', 'update', 'results'] as const)
      expect(kinds).toContain(kind);
    const changes = campaign.entries.filter(({ kind }) => kind === 'update').map(({ text }) => text);
    expect(changes).toEqual([
      'Campaign paused',
      'Concurrency set to 8',
      'Campaign resumed',
      'Rows resumed (retry)',
    ]);
    expect(campaign.money.totals).toEqual({
      ...NO_MONEY,
      currency: 'USD',
      settled: 600_000,
      needsReview: 200_000,
    });
  });

  it('divides its time by the phases of its rows, not for child workflows', () => {
    const share = ({ spent }: Timeline, on: SpentOn): number => {
      const whole = spent.reduce((sum, { ms }) => sum + ms, 0);
      return (spent.find((part) => part.on === on)?.ms ?? 0) / whole;
    };
    expect(share(campaign, 'waiting_for_polls')).toBeGreaterThan(0.3);
    // Until the first report of each batch nothing is known of its rows.
    expect(share(campaign, 'waiting_for_children')).toBeLessThan(0.2);
    // Batches outlive the runs of their campaign, and so do their reports.
    const continued = timelineOf(...[1, 2, 3].map((run) => `runCampaign.continued-run${run}`));
    expect(share(continued, 'nothing')).toBeLessThan(0.1);
    expect(share(timelineOf('runCampaign.budget-spent'), 'waiting_for_money')).toBeGreaterThan(0.25);
    expect(share(timelineOf('campaignBatch.budget-spent'), 'waiting_for_money')).toBeGreaterThan(0.1);
  });

  it('names the kind of each refusal with its code, and why a row got no attempt', () => {
    const causes = (name: string) =>
      Object.fromEntries(timelineOf(name).rows.map((row) => [row.key, rowCause(row)]));
    expect(causes('campaignBatch.paused-and-resumed-batch0')['bad']).toMatch(/^invalid \(/);
    expect(Object.values(causes('campaignBatch.budget-spent'))).toContain('no attempt: the budget is spent');
    const row = {
      ...(campaign.rows[0] as TimelineRow),
      state: 'failed',
      reason: 'at_full_load',
      kind: 'capacity',
      code: 'at_full_load',
      creates: 3,
      noAttempt: 'attempts',
    } as const;
    expect(rowCause(row)).toBe('capacity (at_full_load), no further attempt: the maximum was reached');
    expect(
      rowCause({ ...row, state: 'rejected', reason: 'quota', kind: 'quota', code: null, noAttempt: null }),
    ).toBe('quota');
  });

  it('is wrapped at words for a narrow terminal, with whole task ids, and not at all for a file', () => {
    const narrow = timelineText(campaign, { width: 60, utc: true }).split('\n');
    expect(narrow.filter((line) => line.length > 60 && !/\S{25}/.test(line))).toEqual([]);
    const long = { ...campaign, rows: campaign.rows.map((row) => ({ ...row, key: 'k'.repeat(100) })) };
    for (const width of [60, 80, Infinity]) {
      const text = timelineText(long, { width });
      expect(text).not.toContain('…');
      for (const { taskId, key } of long.rows) for (const id of [taskId, key]) expect(text).toContain(id);
    }
    const wide = timelineText(campaign, { width: Infinity }).split('\n');
    expect(wide.filter((line) => /^ {20}\S/.test(line))).toEqual([]);
  });

  it('has the date of each later day', () => {
    const first = campaign.entries[1] as TimelineEntry;
    const at = new Date(Date.parse(first.at) + 86_400_000).toISOString();
    const entries = [...campaign.entries, { ...first, at }];
    const text = timelineText({ ...campaign, entries }, { utc: true });
    expect(text).toMatch(
      new RegExp(`\\n +${at.slice(0, 10)}\\n *\\+1d 0:00 {2}${at.slice(11, 19)} {2}5-10 `),
    );
  });

  it('has the rows of the batches that were loaded', () => {
    expect(campaign.children.map(({ parent }) => parent?.workflowId)).toEqual([
      campaign.workflowId,
      campaign.workflowId,
    ]);
    const states = campaign.rows.map(({ state }) => state);
    expect(states.filter((state) => state === 'completed')).toHaveLength(6);
    expect(states).toContain('failed');
    for (const row of campaign.rows)
      if (row.state === 'completed')
        expect(row).toMatchObject({ tone: 'good', model: 'cine-1', cost: 100_000 });
    expect(campaign.rows.find(({ state }) => state === 'failed')).toMatchObject({
      tone: 'bad',
      kind: 'invalid',
    });
    expect(campaign.entries.at(-1)).toMatchObject({ kind: 'ended', tone: 'bad' });
    expect(timelineText(campaign)).toContain('Children (2)');
  });
});
