import { readConfig } from '../../src/config';
import { isSameWaiter, type Waiter, watcherOf, watchesLeft } from '../../src/domain/shared-watch';
import { beginWatch, onNudge, type WatchState } from '../../src/domain/watch-state';
import { makeVideoTask } from './make-video-task';

const PLACE = { taskQueue: 'films', pollQueue: 'films/poll' };
const video = makeVideoTask();
const of = (taskId: string, place: Parameters<typeof watcherOf>[1] = PLACE) =>
  watcherOf({ ...video, taskId }, place).workflowId;

describe('the watcher of a video', () => {
  it('is the same for every attempt', () => {
    expect(of('task-1')).toBe(of('task-1'));
    expect(of('task-1')).toMatch(new RegExp(`^watch-videos/films/${video.account}/3-5/\\d+$`));
  });

  it('is one of sixteen, and the tasks of an account are spread over all of them', () => {
    const ids = Array.from({ length: 4_000 }, (_one, at) => of(`vid_${at.toString(16)}`));
    const counts = [...new Set(ids)].map((id) => ids.filter((other) => other === id).length);
    expect(counts).toHaveLength(16);
    // 250 each on average.
    expect(Math.max(...counts)).toBeLessThan(350);
  });

  it.each([
    ['queue', { ...PLACE, taskQueue: 'other' }],
    ['poll queue', { ...PLACE, pollQueue: 'elsewhere' }],
    ['pace', { ...PLACE, slow: { afterMs: 0, intervalMs: 60_000 } }],
  ])('is another one on another %s', (_what, place) => {
    expect(of('task-1', place)).not.toBe(of('task-1'));
  });

  it('is another one for another account or band', () => {
    const mine = watcherOf({ ...video, account: 'b@2' }, PLACE).workflowId;
    const slow = { minSeconds: 10, maxSeconds: 15, firstPollSeconds: 12 };
    const ids = [
      watcherOf(video, PLACE).workflowId,
      mine,
      watcherOf({ ...video, polling: slow }, PLACE).workflowId,
    ];
    expect(new Set(ids).size).toBe(3);
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
        { waiter, answer: { kind: 'own' } },
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
