import { type VideoTask } from '../../src/domain/video-task';
import { beginWatch, onNudge, type WatchState } from '../../src/domain/watch-state';
import { isSameWaiter, type Waiter, watchersOf, watchesLeft } from '../../src/domain/watcher';
import { readConfig } from '../../src/settings/config';
import { makeVideoTask } from './make-video-task';

const PLACE = { taskQueue: 'films', pollQueue: 'films/poll' };
const video = makeVideoTask();
type Place = Parameters<typeof watchersOf>[1];
const of = (more: Partial<VideoTask> = {}, place: Place = PLACE) =>
  watchersOf({ ...video, ...more }, place).map(({ workflowId }) => workflowId);

describe('the watchers of a video', () => {
  it('are the same for every attempt', () => {
    expect(of({ taskId: 'task-1' })).toEqual(of({ taskId: 'task-1' }));
    expect(of()[0]).toMatch(new RegExp(`^watch-videos/films/${video.account}/3-5/\\d+$`));
  });

  it('are a common one, and where that is full one of sixteen others, over which tasks are spread evenly', () => {
    const asked = Array.from({ length: 4_000 }, (_one, at) => of({ taskId: `vid_${at.toString(16)}` }));
    const [first, second] = [0, 1].map((round) => asked.map((ids) => ids[round]));
    expect(new Set(first).size).toBe(1);
    const others = [...new Set(second)];
    expect(others).toHaveLength(16);
    expect(others).not.toContain(first?.[0]);
    // 250 each on average.
    const counts = others.map((id) => second?.filter((one) => one === id).length ?? 0);
    expect(Math.max(...counts)).toBeLessThan(1.4 * 250);
  });

  it.each([
    ['queue', { ...PLACE, taskQueue: 'other' }],
    ['poll queue', { ...PLACE, pollQueue: 'elsewhere' }],
    ['pace', { ...PLACE, slow: { afterMs: 0, intervalMs: 60_000 } }],
  ])('are others on another %s', (_what, place) => {
    for (const id of of({}, place)) expect(of()).not.toContain(id);
  });

  it('are none where the names of queue and account are too long for an id: the video polls on its own', () => {
    expect(of({}, { ...PLACE, taskQueue: 'q'.repeat(1_000) })).toEqual([]);
  });

  it('are others for another account or band', () => {
    const slow = { minSeconds: 10, maxSeconds: 15, firstPollSeconds: 12 };
    expect(new Set([of(), of({ account: 'b@2' }), of({ polling: slow })].flat()).size).toBe(6);
  });
});

const START = 1_000_000;
const watch = (more: Partial<WatchState> = {}): WatchState => ({
  ...beginWatch({ video, now: START, deadlineAt: START + 900_000, firstPollAt: START + 4_000 }),
  ...more,
});

describe('what a closed watcher leaves', () => {
  const waiter: Waiter = { workflowId: 'w', runId: 'r', activityId: '3' };

  it('is joined as it was; an answer that may be lost is found out again', () => {
    const open = { waiter, state: watch({ seen: 'digest', polls: 3 }) };
    const state = watch({ seen: 'final', polls: 9 });
    const left = watchesLeft({
      watches: [open],
      untold: [
        { waiter, answer: { kind: 'verdict', verdict: { kind: 'still_running' }, state } },
        { waiter, answer: { kind: 'full' } },
      ],
    });
    // With its digest, the final record would count as unchanged.
    expect(left).toEqual([open, { waiter, state: { ...state, seen: '' } }]);
  });

  it('knows an attempt of the same activity', () => {
    expect(isSameWaiter(waiter, { ...waiter })).toBe(true);
    expect(isSameWaiter(waiter, { ...waiter, runId: 'other' })).toBe(false);
    expect(isSameWaiter(waiter, { ...waiter, activityId: '4' })).toBe(false);
  });
});

describe('a nudge', () => {
  it('makes the next poll due, and keeps the shortest interval', () => {
    const slow = watch({ lastPollAt: START + 10_000, dueAt: START + 600_000 });
    expect(onNudge(slow, START + 60_000, 3_000).dueAt).toBe(START + 60_000);
    expect(onNudge(slow, START + 11_000, 3_000).dueAt).toBe(START + 13_000);
  });

  it('is never a later poll, and keeps the pause after the create, after an error and of Retry-After', () => {
    expect(onNudge(watch({ dueAt: START }), START + 60_000, 3_000).dueAt).toBe(START);
    expect(onNudge(watch(), START + 1_000, 3_000).dueAt).toBe(START + 3_000);
    const failing = watch({ errors: 1, dueAt: START + 60_000 });
    expect(onNudge(failing, START + 5_000, 3_000)).toBe(failing);
    expect(onNudge(watch({ notBefore: START + 99_000 }), START, 3_000).notBefore).toBe(START + 99_000);
  });
});

test('MEDIA_POLLING is own or shared', () => {
  expect(readConfig({ MEDIA_POLLING: 'shared' }).polling).toBe('shared');
  expect(readConfig({}).polling).toBeUndefined();
  expect(() => readConfig({ MEDIA_POLLING: 'often' })).toThrow('MEDIA_POLLING: must be own or shared.');
});
