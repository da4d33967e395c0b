import fc from 'fast-check';
import { isLocalWorkflow, LOCAL_PROMPT, localRequest } from '../../../packages/cli/src/whatif/local-request';
import { type Scenario, scenarioOf } from '../../../packages/cli/src/whatif/scenario';
import { outcomeType } from '../../../packages/cli/src/whatif/scenario-part';
import { buildTimeline } from '../../../packages/replay/src/timeline/build-timeline';
import {
  type Facts,
  type Timeline,
  type TimelineEntry,
} from '../../../packages/replay/src/timeline/timeline';
import { goldenTarget, goldenTargets } from '../timeline/golden-targets';

const timelineOf = (...names: readonly string[]): Timeline =>
  buildTimeline(goldenTarget(...names.map((name) => `${name}.v1.json`)));
const scenarioOfGolden = (...names: readonly string[]): Scenario => scenarioOf(timelineOf(...names), 10);

describe('the faults that a history shows', () => {
  it('of creates: refusals with their Retry-After, which is shorter by the speed', () => {
    const create = (headers: object | undefined) => ({
      operation: 'create',
      action: expect.objectContaining({
        type: 'status',
        status: 429,
        ...(headers && { headers }),
      }) as unknown,
    });
    expect(scenarioOfGolden('generateVideo.completed-after-refusals')).toMatchObject({
      faults: [create({ 'retry-after': '1' }), create(undefined), { operation: 'poll' }],
      notPlayed: [],
    });
  });

  it('of tries with pauses of our own between: fewer by the speed, so that their backoff is shorter', () => {
    const timeline = timelineOf('generateVideo.completed-after-refusals');
    const isOwn = ({ facts }: TimelineEntry): boolean =>
      facts['outcome'] === 'refused_for_now' && facts['notBefore'] === undefined;
    expect(timeline.entries.filter(isOwn)).toHaveLength(1);
    const often = {
      ...timeline,
      entries: timeline.entries.flatMap((entry) =>
        isOwn(entry) ? Array<TimelineEntry>(12).fill(entry) : [entry],
      ),
    };
    const creates = (speed: number) =>
      scenarioOf(often, speed).faults.filter(({ operation }) => operation === 'create').length;
    expect([creates(1), creates(5), creates(10)]).toEqual([13, 4, 3]);
  });

  it('of a create of unknown fate: accepted where a person adopted its task, and the decision', () => {
    expect(scenarioOfGolden('generateVideo.adopted-by-update')).toMatchObject({
      faults: [
        { operation: 'create', action: { type: 'accept_then_status', status: 502 } },
        // The adoption reads the record of its task.
        { operation: 'poll', action: { type: 'record', patch: { status: 'queued' } } },
        { operation: 'poll', action: { type: 'record', patch: { status: 'in_progress' } } },
      ],
      decisions: ['adopt'],
      notPlayed: ['a decision that was rejected'],
    });
    expect(scenarioOfGolden('generateVideo.resubmitted-by-update')).toMatchObject({
      faults: [{ action: { type: 'status', status: 502 } }, {}],
      decisions: ['resubmit'],
    });
    expect(scenarioOfGolden('generateImage.unconfirmed').faults).toEqual([
      { operation: 'generate', action: { type: 'lose_reply', accepted: true, how: 'reset' } },
    ]);
  });

  it('of polls: each error, and Retry-After with the one that asked for it', () => {
    expect(scenarioOfGolden('generateVideo.completed-after-retry-after').faults).toEqual([
      { operation: 'poll', action: { type: 'status', status: 429, headers: { 'retry-after': '1' } } },
      { operation: 'poll', action: { type: 'status', status: 503 } },
    ]);
  });

  it('of a task that fails: an error of its kind, without the text of the history', () => {
    expect(scenarioOfGolden('generateVideo.failed-moderation').faults).toEqual([
      {
        operation: 'poll',
        action: {
          type: 'task_fails',
          error: expect.objectContaining({ code: 'moderation_blocked' }) as unknown,
        },
      },
    ]);
  });

  it('of a wait that ends first: a task without an end, and a wait that is no longer than it was', () => {
    const { faults, waitForMs } = scenarioOfGolden('generateVideo.still-running');
    expect(faults.at(-1)).toMatchObject({ times: 0, action: { type: 'record' } });
    expect(waitForMs).toBe(6_000);
  });

  it('names what is no fault of the service', () => {
    expect(scenarioOfGolden('generateVideo.completed-after-lost-worker').notPlayed).toEqual([
      'a create without an answer (heartbeat timeout)',
      "what the journal or the service's task records proved about a create",
    ]);
    expect(scenarioOfGolden('generateVideo.rejected-by-workflow').notPlayed).toEqual([
      'a request that was rejected before it was sent',
    ]);
    expect(scenarioOfGolden('generateVideo.completed-shared').notPlayed).toEqual([
      "a watcher's polls: failed polls are in the watcher's history",
    ]);
  });

  it('has the task completed by itself where its create said so', () => {
    expect(scenarioOfGolden('generateVideo.completed-at-creation').timing.queuedMs).toBe(0);
    expect(scenarioOfGolden('generateVideo.completed-after-refusals').timing.queuedMs).toBeGreaterThan(0);
  });
});

describe('the faults of downloads', () => {
  const download = (facts: Facts): Scenario => {
    const timeline = timelineOf('generateVideo.completed');
    const [first] = timeline.entries as [TimelineEntry];
    const entry: TimelineEntry = { ...first, kind: 'download', facts };
    return scenarioOf({ ...timeline, entries: [first, entry] }, 10);
  };

  it.each([
    ['expired', { type: 'expired' }, 'content'],
    ['not_video', { type: 'html_page' }, 'content'],
    ['incomplete_file', { type: 'truncate', bytes: 1_000 }, 'media'],
    ['not_ready', { type: 'not_ready' }, 'content'],
    ['auth', { type: 'status', status: 401 }, 'content'],
  ] as const)('%s: until the tries end', (reason, action, operation) => {
    const { faults, records } = download({ outcome: 'content_unavailable', reason, tries: 3 });
    expect(faults).toEqual([{ operation, times: 0, action }]);
    // One place is asked for the file, so that each try meets one fault.
    expect(records).toBe('minimal');
  });

  it.each([
    ['network', { type: 'cut_body', afterBytes: 1_000, how: 'reset' }, 'media'],
    ['unavailable (HTTP 502)', { type: 'status', status: 502 }, 'content'],
    ['rate_limited (HTTP 429)', { type: 'status', status: 429, headers: { 'retry-after': '2' } }, 'content'],
  ] as const)('%s: as often as it failed before the file came', (lastFailure, action, operation) => {
    const asked = lastFailure.startsWith('rate') ? { retryAfterMs: 20_000 } : {};
    const { faults } = download({ outcome: 'downloaded', tries: 3, lastFailure, ...asked });
    // Pauses of our own cannot be shorter: there are fewer of them.
    expect(faults).toEqual([{ operation, times: lastFailure.startsWith('rate') ? 2 : 1, action }]);
  });

  it.each(['storage', 'blocked'])('%s is none of the service', (reason) => {
    expect(download({ outcome: 'content_unavailable', reason, tries: 1 })).toMatchObject({
      faults: [],
      records: 'full',
      notPlayed: [`a download that failed (${reason})`],
    });
  });

  it('a slow one is told', () => {
    expect(download({ outcome: 'downloaded', tookMs: 90_000 }).notPlayed).toEqual([
      'a slow download (1 min 30 s)',
    ]);
  });
});

describe('every golden history of a video or an image', () => {
  const timelines = goldenTargets()
    .map((target) => buildTimeline(target))
    .filter(({ workflowType }) => isLocalWorkflow(workflowType));
  const asked = ({ faults }: Scenario): number =>
    faults.reduce((sum, { times = 1, action }) => sum + (action.type === 'record' ? 0 : times), 0);

  it('there are many', () => expect(timelines.length).toBeGreaterThan(60));

  it('loses no fault to the speed, and is no slower', () => {
    fc.assert(
      fc.property(fc.constantFrom(...timelines), fc.integer({ min: 1, max: 9_999 }), (timeline, speed) => {
        const [slow, fast] = [scenarioOf(timeline, 1), scenarioOf(timeline, speed)];
        expect(asked(fast)).toBe(asked(slow));
        expect(fast.notPlayed).toEqual(slow.notPlayed);
        expect(fast.decisions).toEqual(slow.decisions);
        for (const [index, { times = 1 }] of fast.faults.entries())
          expect(times).toBeLessThanOrEqual(slow.faults[index]?.times ?? 1);
        expect(fast.waitForMs ?? 0).toBeLessThanOrEqual(slow.waitForMs ?? 0);
      }),
    );
  });

  it('gives no id, account or key away', () => {
    for (const timeline of timelines) {
      const { workflowId, taskId, creationKey, account } = timeline;
      const scenario = scenarioOf(timeline, 10);
      const request = localRequest(timeline, 'generateVideo');
      for (const text of [workflowId, taskId, creationKey, account])
        if (text !== null && text !== '') expect(JSON.stringify([scenario, request])).not.toContain(text);
      expect(request.request.prompt).toBe(LOCAL_PROMPT);
      expect(outcomeType(timeline)).not.toBeNull();
    }
  });
});

describe('the request of the local run', () => {
  const withModel = (model: string, facts: Facts): Timeline => {
    const timeline = timelineOf('generateVideo.completed');
    const [first, ...rest] = timeline.entries as [TimelineEntry, ...TimelineEntry[]];
    return { ...timeline, model, entries: [{ ...first, facts: { ...first.facts, ...facts } }, ...rest] };
  };

  it('of a model that the sandbox has, and of one that it has not', () => {
    const facts = { durationSeconds: 7, resolution: '480p', references: 2 };
    expect(localRequest(withModel('cine-1', facts), 'generateVideo')).toEqual({
      workflow: 'generateVideo',
      request: { model: 'cine-1', prompt: LOCAL_PROMPT, resolution: '480p' },
      notPlayed: ['a duration of 7 s', "the request's references"],
    });
    expect(localRequest(withModel('film-9', { ...facts, references: 0 }), 'generateVideo')).toEqual({
      workflow: 'generateVideo',
      request: { model: 'open-canvas', prompt: LOCAL_PROMPT, durationSeconds: 7, resolution: '480p' },
      notPlayed: ['the model film-9: open-canvas is used instead'],
    });
  });
});
