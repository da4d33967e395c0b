import { watchStates } from '../../src/client/workflow-handle';
import { type VideoState } from '../../src/domain/video-state';

const state = (phase: VideoState['phase'], polls = 0): VideoState => ({ phase, polls }) as VideoState;

/** A video that answers with these states, one a question; an error stands for nobody who answers. */
function video(
  answers: (VideoState | Error)[],
  isRunning: () => Promise<boolean> = () => Promise.resolve(true),
) {
  return {
    state: () => {
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer as VideoState);
    },
    isRunning,
  };
}

async function phases(states: AsyncIterable<VideoState>): Promise<string[]> {
  const seen: string[] = [];
  for await (const { phase, polls } of states) seen.push(`${phase} ${polls}`);
  return seen;
}

describe('watchStates', () => {
  test('yields every state that differs from the one before, and ends with the video', async () => {
    const answers = [
      state('creating'),
      state('creating'),
      state('watching', 1),
      state('watching', 2),
      state('done', 2),
    ];
    expect(await phases(watchStates(video(answers), { intervalMs: 1 }))).toEqual([
      'creating 0',
      'watching 1',
      'watching 2',
      'done 2',
    ]);
  });

  test('a state that cannot be had is left out while the workflow runs', async () => {
    const answers = [state('watching'), new Error('no worker'), state('done')];
    expect(await phases(watchStates(video(answers), { intervalMs: 1 }))).toEqual(['watching 0', 'done 0']);
  });

  test('ends when the workflow is closed and nobody answers; a server that is away closes nothing', async () => {
    const asked = [() => Promise.reject(new Error('away')), () => Promise.resolve(false)];
    const isRunning = () => (asked.shift() ?? (() => Promise.resolve(false)))();
    expect(await phases(watchStates(video([new Error('no worker')], isRunning), { intervalMs: 1 }))).toEqual(
      [],
    );
    expect(asked).toEqual([]);
  });

  test('ends when the workflow is closed without an end, although its history still answers', async () => {
    const asked = [() => Promise.resolve(true), () => Promise.reject(new Error('away'))];
    const isRunning = () => (asked.shift() ?? (() => Promise.resolve(false)))();
    const answers = [state('watching', 1), state('watching', 1), state('watching', 2)];
    expect(await phases(watchStates(video(answers, isRunning), { intervalMs: 1 }))).toEqual([
      'watching 1',
      'watching 2',
    ]);
    expect(asked).toEqual([]);
  });

  test('yields how a workflow ended that ended after it was asked', async () => {
    const answers = [state('watching', 1), state('watching', 1), state('done', 2)];
    const closed = () => Promise.resolve(false);
    expect(await phases(watchStates(video(answers, closed), { intervalMs: 1 }))).toEqual([
      'watching 1',
      'done 2',
    ]);
  });

  test('an abort ends it, also in the pause', async () => {
    const abort = new AbortController();
    const states = watchStates(video([state('watching')]), { intervalMs: 3_600_000, signal: abort.signal });
    expect((await states.next()).value).toMatchObject({ phase: 'watching' });
    const next = states.next();
    abort.abort();
    expect(await next).toEqual({ value: undefined, done: true });
  });
});
