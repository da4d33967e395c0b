import { type Client } from '@temporalio/client';
import { JoinedTogether, MAX_JOINS, MOST_TOGETHER } from '../../src/activities/watchers';
import { beginWatch } from '../../src/domain/watch-state';
import { MAX_WATCHES, type WatcherFacts, watchersOf } from '../../src/domain/watcher';
import { makeVideoTask } from '../domain/make-video-task';

const video = makeVideoTask();
const watchers = watchersOf(video, { taskQueue: 'films', pollQueue: 'films/poll' });
const [watcher, other] = watchers as [WatcherFacts, WatcherFacts];
const DAY_MS = 24 * 60 * 60_000;
const joinOf = (workflowId: string) => ({
  waiter: { workflowId, runId: 'run', activityId: '2' },
  state: beginWatch({ video, now: 0, deadlineAt: 900_000, firstPollAt: 4_000 }),
});

describe('videos that join a watcher at the same time', () => {
  const signals: (readonly [watcher: string, videos: readonly string[]])[] = [];
  let refuses = false;
  const client = {
    options: { namespace: 'default' },
    workflow: {
      signalWithStart: async (
        _type: string,
        given: { workflowId: string; signalArgs: [readonly ReturnType<typeof joinOf>[]] },
      ) => {
        if (refuses) throw new Error('The server is away');
        signals.push([given.workflowId, given.signalArgs[0].map(({ waiter }) => waiter.workflowId)]);
      },
    },
  } as unknown as Client;
  beforeEach(() => {
    signals.length = 0;
    refuses = false;
  });

  it('travel in one signal; another watcher and a later video have one of their own', async () => {
    const joining = new JoinedTogether(0);
    await Promise.all([
      joining.join(client, watcher, joinOf('a')),
      joining.join(client, watcher, joinOf('b')),
      joining.join(client, other, joinOf('c')),
    ]);
    await joining.join(client, watcher, joinOf('d'));
    expect(signals).toEqual([
      [watcher.workflowId, ['a', 'b']],
      [other.workflowId, ['c']],
      [watcher.workflowId, ['d']],
    ]);
  });

  it('travel in several signals when they are too many for one payload', async () => {
    const joining = new JoinedTogether(0);
    const ids = Array.from({ length: MAX_WATCHES + 1 }, (_one, at) => `video-${at}`);
    await Promise.all(ids.map((id) => joining.join(client, watcher, joinOf(id))));
    expect(signals.map(([, videos]) => videos.length)).toEqual([MAX_JOINS, MAX_JOINS, 1]);
    expect(signals.flatMap(([, videos]) => videos)).toEqual(ids);
  });

  it('do not wait for others when a process collects so many that polls could lack a slot', async () => {
    const joining = new JoinedTogether(DAY_MS);
    const join = (from: number, to: number, one: WatcherFacts) =>
      Array.from({ length: to - from }, (_one, at) =>
        joining.join(client, one, joinOf(`video-${from + at}`)),
      );
    const first = join(0, MOST_TOGETHER - 2, watcher);
    const second = join(MOST_TOGETHER - 2, MOST_TOGETHER, other);
    await Promise.all([...first, ...second]);
    expect(signals.map(([id, videos]) => [id, videos.length])).toEqual([
      [watcher.workflowId, MOST_TOGETHER - 2],
      [other.workflowId, 2],
    ]);
    await Promise.all(join(100, 100 + MOST_TOGETHER, watcher));
    expect(signals.at(-1)).toEqual([
      watcher.workflowId,
      Array.from({ length: MOST_TOGETHER }, (_one, at) => `video-${100 + at}`),
    ]);
  });

  it('all learn that the server did not take the signal, and the next try is a new one', async () => {
    const joining = new JoinedTogether(0);
    refuses = true;
    const tries = ['a', 'b'].map((id) => joining.join(client, watcher, joinOf(id)));
    for (const one of tries) await expect(one).rejects.toThrow('The server is away');
    refuses = false;
    await joining.join(client, watcher, joinOf('a'));
    expect(signals).toEqual([[watcher.workflowId, ['a']]]);
  });
});
